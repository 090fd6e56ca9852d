-- One row is a communication operator of a step as the profiler itself reported it: communication.json, or analysis.db next to
-- a database.
--
-- name                VARCHAR  name of the operator
-- short_name          VARCHAR  the same without the group that some versions append, as in trace.communication
-- type                VARCHAR  type in its name, such as hcom_allReduce_; NULL when the name has none
-- operation           VARCHAR  operation of operators of this type, in lower case, such as allreduce; NULL without a type
-- group_name          VARCHAR  the group of ranks, that is, the communicator
-- step_id             BIGINT   profiler step; NULL without any
-- kind                VARCHAR  p2p (send and receive) or collective
-- start_ns            BIGINT   start, Unix ns, to 250 ns; NULL when not reported
-- elapse_ns           BIGINT   its time, ns; NULL when not reported
-- transit_ns          BIGINT   transfers on the master plane, ns; NULL when not reported
-- wait_ns             BIGINT   waits on the master plane, ns; NULL when not reported
-- synchronization_ns  BIGINT   waits before the first transfer, ns; NULL when not reported
-- idle_ns             BIGINT   the rest of its time, ns; NULL when not reported
SELECT
    name,
    name_without_group(name) AS short_name,
    type_of_communication(name) AS type,
    operation_of_communication(type_of_communication(name)) AS operation,
    group_name,
    TRY_CAST(regexp_extract(step, '(\d+)$', 1) AS BIGINT) AS step_id,
    kind,
    start_ns,
    elapse_ns,
    transit_ns,
    wait_ns,
    synchronization_ns,
    idle_ns
FROM raw.recorded_communication
