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
WITH counted_duration AS (
    SELECT * RENAME (call_count AS row_count)
    FROM api.duration
)
SELECT
    unnest(key),
    row_count AS calls,
    more.self_ns,
    more.self_ns / nullif(sum(more.self_ns) OVER (), 0) AS share,
    total_ns,
    more.idle_ns,
    unnest(spread)
FROM statistic_of(
    counted_duration,
    {'level': level, 'name_id': name_id, 'role': role},
    {'self_ns': sum(self_ns)::BIGINT, 'idle_ns': sum(idle_ns)::BIGINT}
)
LEFT JOIN trace.string ON string.text_id = key.name_id
QUALIFY is_chosen(string.text)
ORDER BY more.self_ns DESC, key.level, string.text, key.role
