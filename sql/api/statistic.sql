-- One row is a layer and name of host calls into the software of the device, such as CANN or CUDA, with their number and times,
-- the largest own time first; with --filter, only names that it chooses. Where api_statistic.csv alone reports them, their own
-- times are not known, and the largest time comes first.
--
-- level      ENUM('acl', 'model', 'node', 'communication', 'runtime')  the layer of CANN, acl being its interface; for CUDA and
--                     HIP runtime; NULL for any other layer
-- name_id    TEXT_ID  name, such as aclrtSynchronizeStream; NULL when the profile lost its text
-- role       ENUM('launch', 'synchronise', 'copy', 'allocate', 'compile')  what it does: put work on the device, wait for the
--                     device, copy memory, allocate or free memory, compile an op; NULL for all else
-- calls      BIGINT   calls
-- self_ns    BIGINT   their time without that of the calls inside them, ns; NULL where api_statistic.csv alone reports them
-- share      DOUBLE   part of the own time of all host calls of the rank; NULL when that is 0 or not known
-- total_ns   BIGINT   their time, ns; a call inside a call of the same name counts too
-- idle_ns    BIGINT   how long the device was idle during them, ns; NULL where the rank has no kernels, or self_ns is
-- mean_ns    DOUBLE   mean time of a call, ns
-- stddev_ns  DOUBLE   standard deviation of the times, ns; NULL where self_ns is
-- min_ns     BIGINT   shortest time, ns; NULL when not reported
-- q1_ns      BIGINT   the smallest time that at least a quarter of the calls do not exceed, ns; NULL where self_ns is
-- median_ns  BIGINT   the same for half of the calls, ns
-- q3_ns      BIGINT   the same for three quarters of the calls, ns
-- p95_ns     BIGINT   the same for 95 % of the calls, ns
-- max_ns     BIGINT   longest time, ns; NULL when not reported
WITH duration AS (FROM api.duration)
SELECT statistic.*
FROM call_statistic_of(duration, {'level': level, 'name_id': name_id, 'role': role}) AS statistic
LEFT JOIN trace.string ON string.text_id = statistic.name_id
WHERE is_chosen(string.text)
ORDER BY coalesce(self_ns, total_ns) DESC, level, string.text, role
