-- One row is a layer and name of host calls into the software of the device, such as CANN or CUDA, with their number and times
-- over all ranks, the largest own time first; with --filter, only names that it chooses. Calls that several ranks share, such
-- as the devices of one database, count once; idle_ns is then that of all these devices. What is NULL on one of the ranks with
-- such calls is NULL here.
--
-- level            VARCHAR  acl, model, node, communication or runtime, as in trace.host_api
-- name             VARCHAR  name, such as aclrtSynchronizeStream; NULL when the profile lost its text
-- role             VARCHAR  launch, synchronise, copy, allocate or compile, as in trace.host_api
-- @columns calls to max_ns as in api.statistic
WITH counted_duration AS (
    SELECT
        level,
        name,
        role,
        duration_ns,
        call_count AS row_count,
        self_ns,
        idle_ns,
        coalesce(total_ns, duration_ns * call_count) AS calls_ns,
        coalesce(duration_ns, min_ns) AS shortest_ns,
        coalesce(duration_ns, max_ns) AS longest_ns
    FROM across.api_duration
),
total AS (
    SELECT unnest(key), row_count AS calls, spread, unnest(more)
    FROM statistic_of(
        counted_duration,
        {'level': level, 'name': name, 'role': role},
        {
            'self_ns': if(count(*) = count(self_ns), sum(self_ns)::BIGINT, NULL),
            'idle_ns': sum(idle_ns)::BIGINT,
            'total_ns': sum(calls_ns)::BIGINT,
            'is_counted': count(*) = count(duration_ns),
            'shortest_ns': if(count(*) = count(shortest_ns), min(shortest_ns), NULL),
            'longest_ns': if(count(*) = count(longest_ns), max(longest_ns), NULL)
        }
    )
)
SELECT
    level,
    name,
    role,
    calls,
    self_ns,
    if(bool_and(self_ns IS NOT NULL) OVER (), self_ns / nullif(sum(self_ns) OVER (), 0), NULL) AS share,
    total_ns,
    idle_ns,
    total_ns / calls AS mean_ns,
    if(is_counted, spread.stddev_ns, NULL) AS stddev_ns,
    shortest_ns AS min_ns,
    if(is_counted, spread.q1_ns, NULL) AS q1_ns,
    if(is_counted, spread.median_ns, NULL) AS median_ns,
    if(is_counted, spread.q3_ns, NULL) AS q3_ns,
    if(is_counted, spread.p95_ns, NULL) AS p95_ns,
    longest_ns AS max_ns
FROM total
QUALIFY is_chosen(name)
ORDER BY coalesce(self_ns, total_ns) DESC, level, name, role
