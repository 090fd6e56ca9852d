-- One row is a pair of ranks of a group and what operators of a type moved between them, as the profiler itself reported it:
-- communication_matrix.json, or analysis.db next to a database.
--
-- kind              VARCHAR  p2p (send and receive) or collective
-- type              VARCHAR  operation of the operators, in lower case, such as allreduce
-- group_name        VARCHAR  the group of ranks, that is, the communicator; NULL when not reported
-- step_id           BIGINT   profiler step; NULL without any
-- source_rank       BIGINT   rank within the group; NULL when not reported
-- destination_rank  BIGINT   rank within the group, the same one within a device; NULL when not reported
-- link              VARCHAR  the link, such as HCCS; ON_CHIP within a device
-- size_bytes        BIGINT   bytes moved; NULL when not reported
-- duration_ns       BIGINT   time of the transfers, ns; transfers at the same time count fully; NULL when not reported
SELECT
    kind,
    -- Writers of 2023 name the operators themselves.
    operation_of_communication(type) AS type,
    group_name,
    TRY_CAST(regexp_extract(step, '(\d+)$', 1) AS BIGINT) AS step_id,
    TRY_CAST(split_part(pair, '-', 1) AS BIGINT) AS source_rank,
    TRY_CAST(split_part(pair, '-', 2) AS BIGINT) AS destination_rank,
    if(link = 'LOCAL', 'ON_CHIP', link) AS link,
    size_bytes,
    duration_ns
FROM raw.recorded_link
