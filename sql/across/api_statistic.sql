-- One row is a layer and name of host calls into the software of the device, such as CANN or CUDA, with their number and times
-- over all ranks, the largest own time first; with --filter, only names that it chooses. Calls that several ranks share, such
-- as the devices of one database, count once; idle_ns is then that of all these devices.
--
-- level            VARCHAR  acl, model, node, communication or runtime, as in trace.host_api
-- name             VARCHAR  name, such as aclrtSynchronizeStream; NULL when the profile lost its text
-- role             VARCHAR  launch, synchronise, copy, allocate or compile, as in trace.host_api
-- @columns calls to max_ns as in api.statistic
WITH counted_duration AS (
    SELECT * RENAME (call_count AS row_count)
    FROM across.api_duration
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
    {'level': level, 'name': name, 'role': role},
    {'self_ns': sum(self_ns)::BIGINT, 'idle_ns': sum(idle_ns)::BIGINT}
)
QUALIFY is_chosen(key.name)
ORDER BY more.self_ns DESC, key.level, key.name, key.role
