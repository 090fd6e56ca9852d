-- One row is a layer and name of host calls into the software of the device, such as CANN or CUDA, with their number and times
-- over all ranks, the largest own time first; with --filter, only names that it chooses. Calls that several ranks share, such
-- as the devices of one database, count once; idle_ns is then that of all these devices.
--
-- level            VARCHAR  acl, model, node, communication or runtime, as in trace.host_api
-- name             VARCHAR  name, such as aclrtSynchronizeStream; NULL when the profile lost its text
-- role             VARCHAR  launch, synchronise, copy, allocate or compile, as in trace.host_api
-- @columns calls to max_ns as in api.statistic
WITH ranked AS (
    SELECT
        *,
        sum(call_count) OVER (PARTITION BY level, name, role ORDER BY duration_ns) AS calls_up_to,
        sum(call_count) OVER (PARTITION BY level, name, role) AS calls
    FROM across.api_duration
),
summed AS (
    SELECT
        level,
        name,
        role,
        sum(call_count)::BIGINT AS calls,
        sum(self_ns)::BIGINT AS self_ns,
        sum(duration_ns * call_count)::BIGINT AS total_ns,
        sum(idle_ns)::BIGINT AS idle_ns,
        spread_of_counted(duration_ns, call_count, calls_up_to, calls) AS spread
    FROM ranked
    GROUP BY level, name, role
)
SELECT
    level,
    name,
    role,
    calls,
    self_ns,
    self_ns / nullif(sum(self_ns) OVER (), 0) AS share,
    total_ns,
    idle_ns,
    unnest(spread)
FROM summed
QUALIFY is_chosen(name)
ORDER BY self_ns DESC, level, name, role
