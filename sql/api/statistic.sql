-- One row is a layer and name of host calls into the software of the device, such as CANN or CUDA, with their number and times,
-- the largest own time first; with --filter, only names that it chooses.
--
-- level      ENUM('acl', 'model', 'node', 'communication', 'runtime')  the layer of CANN, acl being its interface; for CUDA and
--                     HIP runtime; NULL for any other layer
-- name_id    TEXT_ID  name, such as aclrtSynchronizeStream; NULL when the profile lost its text
-- role       ENUM('launch', 'synchronise', 'copy', 'allocate', 'compile')  what it does: put work on the device, wait for the
--                     device, copy memory, allocate or free memory, compile an op; NULL for all else
-- calls      BIGINT   calls
-- self_ns    BIGINT   their time without that of the calls inside them, ns
-- share      DOUBLE   part of the own time of all host calls of the rank; NULL when that is 0
-- total_ns   BIGINT   their time, ns; a call inside a call of the same name counts too
-- idle_ns    BIGINT   how long the device was idle during them, ns; NULL where the rank has no kernels
-- mean_ns    DOUBLE   mean time of a call, ns
-- stddev_ns  DOUBLE   standard deviation of the times, ns
-- min_ns     BIGINT   shortest time, ns
-- q1_ns      BIGINT   the smallest time that at least a quarter of the calls do not exceed, ns
-- median_ns  BIGINT   the same for half of the calls, ns
-- q3_ns      BIGINT   the same for three quarters of the calls, ns
-- p95_ns     BIGINT   the same for 95 % of the calls, ns
-- max_ns     BIGINT   longest time, ns
WITH ranked AS (
    SELECT
        *,
        sum(call_count) OVER (PARTITION BY level, name_id, role ORDER BY duration_ns) AS calls_up_to,
        sum(call_count) OVER (PARTITION BY level, name_id, role) AS calls
    FROM api.duration
),
summed AS (
    SELECT
        level,
        name_id,
        role,
        sum(call_count)::BIGINT AS calls,
        sum(self_ns)::BIGINT AS self_ns,
        sum(duration_ns * call_count)::BIGINT AS total_ns,
        sum(idle_ns)::BIGINT AS idle_ns,
        spread_of_counted(duration_ns, call_count, calls_up_to, calls) AS spread
    FROM ranked
    GROUP BY level, name_id, role
)
SELECT
    summed.level,
    summed.name_id,
    summed.role,
    summed.calls,
    summed.self_ns,
    summed.self_ns / nullif(sum(summed.self_ns) OVER (), 0) AS share,
    summed.total_ns,
    summed.idle_ns,
    unnest(summed.spread)
FROM summed
LEFT JOIN trace.string ON string.text_id = summed.name_id
QUALIFY is_chosen(string.text)
ORDER BY summed.self_ns DESC, summed.level, string.text, summed.role
