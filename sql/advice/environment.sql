-- One row is a rank and what an environment variable of its run costs, by the value that the profile records.
--
-- @guard trace.setting
-- @title (effect = launches wait) Each launch waits for the device
-- @title (effect = logs much) The runtime logs more than errors
-- @title (effect = keeps few ops) The runtime keeps fewer prepared ops than it does by itself
-- @title The algorithm of collectives is fixed
-- @evidence (no time_ns) {names} is set: collectives do not choose their algorithm by size and by number of ranks
-- @evidence {name_values}: it costs time on the host, and the device waits for the host for {time_ns}
-- @kind (effect = launches wait) upper bound
-- @kind hint
-- @remedy (effect = launches wait) Unset {names}: it is for finding errors, since launches then no longer run ahead of the
--     device.
-- @remedy (effect = logs much) Unset {names}, or set it to 3 (errors), and record again.
-- @remedy (effect = keeps few ops) Unset {names}; where shapes vary much, raise it above its default of 10000.
-- @remedy Unset {names}, and compare the collectives of both runs with `prof-analysis communication-stats`.
-- @query SELECT name, value, effect, rank_id FROM trace.setting WHERE effect IS NOT NULL ORDER BY name, rank_id LIMIT 20
-- @counts idle
-- @requires kernels, settings
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- effect       VARCHAR  what the values cost, as in trace.setting
-- names        VARCHAR  names of the variables
-- name_values  VARCHAR  names with their values; NULL when these are no numbers
--
-- Environment variables of the run, which the profiler records (`META_DATA` of a database, `profiler_metadata.json`; GPU traces
-- have none), and the cost of their values: `ASCEND_LAUNCH_BLOCKING=1` makes each launch wait for the device,
-- `ASCEND_GLOBAL_LOG_LEVEL` 0 or 1 writes a line for each call, `ACLNN_CACHE_LIMIT` below its default of 10000 makes prepared
-- ops anew, `HCCL_ALGO` fixes the algorithm of collectives. Without blocking launches you win at most the time in which the
-- device waits for the host (an upper bound). For the others no time can be given (hints). A variable that is not set is not
-- reported. msprof-analyze recommends `ACLNN_CACHE_LIMIT=100000` and `HOST_CACHE_CAPACITY` to every profile, but the vendor's
-- own page advises to keep the default. The values are in [trace.setting](../sql/trace/setting.sql).
WITH setting AS (
    SELECT
        profile,
        rank_id,
        effect::VARCHAR AS effect,
        count(*) AS setting_count,
        string_agg(name, ', ' ORDER BY name) AS names,
        string_agg(format('{} is {}', name, TRY_CAST(value AS BIGINT)), ', ' ORDER BY name) AS name_values
    FROM trace.setting
    WHERE effect IS NOT NULL
    GROUP BY ALL
),
-- What of its idle time the device waits for calls and ops of the host.
idle AS (
    SELECT profile, sum(total_ns)::BIGINT AS total_ns
    FROM free.cause
    WHERE cause NOT IN (
        'garbage collection',
        'data loading',
        'kernels of no step',
        'waiting for another stream or event',
        'unknown after the launch',
        'edge of the recording'
    )
    GROUP BY profile
),
-- A faster host makes no kernel faster: it wins this idle time, and no more.
bound AS (
    SELECT setting.*, if(setting.effect <> 'fixes the algorithm', coalesce(idle.total_ns, 0), NULL) AS idle_ns
    FROM setting
    LEFT JOIN idle ON idle.profile = setting.profile
)
SELECT
    profile,
    rank_id,
    setting_count AS count,
    idle_ns AS time_ns,
    if(effect = 'launches wait', idle_ns, NULL) AS win_ns,
    effect,
    names,
    name_values
FROM bound
