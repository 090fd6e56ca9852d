-- One row is a layer, name, role and duration of host calls over all ranks, and the number of calls with all of these. Calls
-- that several ranks share, such as the devices of one database, count once.
--
-- level        VARCHAR  acl, model, node, communication or runtime, as in trace.host_api
-- name         VARCHAR  name; NULL when the profile lost its text
-- role         VARCHAR  launch, synchronise, copy, allocate or compile, as in trace.host_api
-- duration_ns  BIGINT   end - start of each; NULL where api_statistic.csv alone reports them
-- call_count   BIGINT   calls
-- self_ns      BIGINT   their time without that of the calls inside them, ns; NULL where duration_ns is
-- idle_ns      BIGINT   how long the device was idle during them, of all devices that share them, ns; NULL without kernels
-- @columns total_ns to max_ns as in api.duration
WITH of_host AS (
    SELECT
        level,
        name,
        role,
        duration_ns,
        max(call_count) AS call_count,
        max(self_ns) AS self_ns,
        sum(idle_ns) AS idle_ns,
        max(total_ns) AS total_ns,
        min(min_ns) AS min_ns,
        max(max_ns) AS max_ns
    FROM api.duration
    JOIN op.host USING (profile)
    GROUP BY level, name, role, duration_ns, host.host_profile
)
SELECT
    level,
    name,
    role,
    duration_ns,
    sum(call_count)::BIGINT AS call_count,
    sum(self_ns)::BIGINT AS self_ns,
    sum(idle_ns)::BIGINT AS idle_ns,
    sum(total_ns)::BIGINT AS total_ns,
    if(count(*) = count(min_ns), min(min_ns), NULL) AS min_ns,
    if(count(*) = count(max_ns), max(max_ns), NULL) AS max_ns
FROM of_host
GROUP BY level, name, role, duration_ns
