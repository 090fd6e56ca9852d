-- One row is the name of a communication operator and the one time that the profiler itself worked out for it. Names that stand
-- for several are left out, as are steps other than the chosen one.
--
-- name                VARCHAR  name of the operator
-- group_name          VARCHAR  the group of ranks, that is, the communicator
-- step_id             BIGINT   profiler step; NULL where there are none
-- kind                VARCHAR  p2p (send and receive) or collective
-- elapse_ns           BIGINT   its time, ns
-- transit_ns          BIGINT   transfers on the master plane, ns
-- wait_ns             BIGINT   waits on the master plane, ns
-- synchronization_ns  BIGINT   those of the waits that are before the first transfer, ns
-- idle_ns             BIGINT   the rest, ns
-- size_bytes          BIGINT   what it moved over links; NULL when nothing
-- transfer_ns         BIGINT   time of these transfers on all planes, ns; NULL when there are none
WITH moved AS (
    SELECT
        name,
        group_name,
        step_id,
        sum(size_bytes)::BIGINT AS size_bytes,
        sum(duration_ns)::BIGINT AS transfer_ns
    FROM trace.recorded_transfer
    GROUP BY name, group_name, step_id
)
SELECT
    operator.name,
    operator.group_name,
    operator.step_id,
    operator.kind,
    operator.elapse_ns,
    operator.transit_ns,
    operator.wait_ns,
    operator.synchronization_ns,
    operator.elapse_ns - operator.transit_ns - operator.wait_ns AS idle_ns,
    moved.size_bytes,
    moved.transfer_ns
FROM trace.recorded_communication AS operator
LEFT JOIN moved
    ON moved.name = operator.name
    AND moved.group_name IS NOT DISTINCT FROM operator.group_name
    AND moved.step_id IS NOT DISTINCT FROM operator.step_id
WHERE operator.elapse_ns IS NOT NULL AND (getvariable('step_id') IS NULL OR operator.step_id = getvariable('step_id'))
QUALIFY count(*) OVER (PARTITION BY operator.name) = 1
