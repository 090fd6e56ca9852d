-- One row is a communication operator and a link over which it moved data, as the profiler itself reported it:
-- communication.json, or analysis.db next to a database.
--
-- name         VARCHAR  name of the operator
-- group_name   VARCHAR  the group of ranks, that is, the communicator
-- step_id      BIGINT   profiler step; NULL without any
-- link         VARCHAR  RDMA, HCCS, PCIE or SIO
-- size_bytes   BIGINT   bytes moved
-- duration_ns  BIGINT   time of the transfers, ns; transfers at the same time count fully; NULL when not reported
SELECT name, group_name, TRY_CAST(regexp_extract(step, '(\d+)$', 1) AS BIGINT) AS step_id, link, size_bytes, duration_ns
FROM raw.recorded_transfer
