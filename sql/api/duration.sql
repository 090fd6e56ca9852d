-- One row is a layer, name, role and duration of host calls, and the number of calls with all of these. It is all that totals
-- and quantiles need, for one rank or for all ranks.
--
-- level        ENUM('acl', 'model', 'node', 'communication', 'runtime')  as in trace.host_api
-- name_id      TEXT_ID  name; NULL when the profile lost its text
-- role         ENUM('launch', 'synchronise', 'copy', 'allocate', 'compile')  as in trace.host_api
-- duration_ns  BIGINT   end - start of each; NULL in a profile without host calls where the profiler reported their sums
--                       (api_statistic.csv), of all steps together
-- call_count   BIGINT   calls
-- self_ns      BIGINT   their time without that of the calls inside them, ns; NULL where duration_ns is
-- idle_ns      BIGINT   how long the device was idle during them, ns; NULL where the rank has no kernels, or duration_ns is
-- total_ns     BIGINT   their time as the profiler reported it, ns; NULL where duration_ns is known
-- min_ns       BIGINT   the shortest of them as the profiler reported it, ns; NULL where duration_ns is known
-- max_ns       BIGINT   the longest of them as the profiler reported it, ns; NULL where duration_ns is known
SELECT
    level,
    name_id,
    role,
    duration_ns,
    count(*) AS call_count,
    sum(self_ns)::BIGINT AS self_ns,
    sum(idle_ns)::BIGINT AS idle_ns,
    NULL::BIGINT AS total_ns,
    NULL::BIGINT AS min_ns,
    NULL::BIGINT AS max_ns
FROM api.call
GROUP BY level, name_id, role, duration_ns
UNION ALL
SELECT level, name_id, role, NULL, call_count, NULL, NULL, total_ns, min_ns, max_ns
FROM api.reported
