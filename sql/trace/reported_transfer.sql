-- One row is a communication operator and a link that it moved something over, as the profiler itself worked it out:
-- communication.json, or analysis.db beside a database.
--
-- name         VARCHAR  name of the operator
-- group_name   VARCHAR  the group of ranks, that is, the communicator
-- step_id      BIGINT   profiler step; NULL where there are none
-- link         VARCHAR  RDMA, HCCS, PCIE or SIO
-- size_bytes   BIGINT   what was moved
-- duration_ns  BIGINT   time of the transfers, ns; those at the same time count fully; NULL when the file does not tell it
SELECT name, group_name, TRY_CAST(regexp_extract(step, '(\d+)$', 1) AS BIGINT) AS step_id, link, size_bytes, duration_ns
FROM raw.recorded_transfer
