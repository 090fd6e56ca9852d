-- One row is an op in which the host of a rank is longer than the hosts of those ranks that wait for it: why it comes late.
-- Only where computing does not explain it.
-- Requires communication, ops.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_waited_share') AS least_waited_share
    FROM advice.threshold
    WHERE rule = 'late_host'
),
exposed AS (
    SELECT profile, sum(communication_not_overlapped_ns) / count(*) AS exposed_ns
    FROM step.time
    WHERE stage_ns IS NOT NULL OR origin = 'profiler'
    GROUP BY profile
),
waiting AS (
    SELECT slow_rank.*, exposed.exposed_ns
    FROM across.slow_rank
    LEFT JOIN exposed USING (profile)
    WHERE NOT is_slow
),
-- As in slow_rank.
slow AS (
    SELECT
        slow.profile,
        slow.rank_id,
        slow.step_count,
        avg(waiting.waited_ns - slow.waited_ns) AS waited_ns,
        avg(least(waiting.waited_ns - slow.waited_ns, waiting.exposed_ns)) AS win_ns
    FROM across.slow_rank AS slow
    CROSS JOIN waiting
    WHERE slow.is_slow
    GROUP BY slow.profile, slow.rank_id, slow.step_count, slow.computing_ns
    HAVING coalesce(slow.computing_ns - avg(waiting.computing_ns) < 0.5 * avg(waiting.waited_ns - slow.waited_ns), true)
),
-- Ranks of which ops are recorded.
other AS (
    SELECT waiting.profile, waiting.step_count
    FROM waiting
    WHERE waiting.profile IN (SELECT profile FROM op.host_time)
),
of_slow AS (
    SELECT
        slow.profile,
        slow.rank_id,
        slow.step_count,
        slow.waited_ns,
        slow.win_ns,
        own.name,
        own.is_loading,
        own.call_count,
        own.host_ns / slow.step_count AS host_ns
    FROM slow
    JOIN op.host_time AS own USING (profile)
),
compared AS (
    SELECT
        of_slow.*,
        quantile_disc(coalesce(theirs.host_ns, 0) / other.step_count, 0.5) AS others_ns
    FROM of_slow
    CROSS JOIN other
    LEFT JOIN op.host_time AS theirs
        ON theirs.profile = other.profile
        AND theirs.name IS NOT DISTINCT FROM of_slow.name
        AND theirs.is_loading = of_slow.is_loading
    GROUP BY ALL
),
longest AS (
    SELECT *, host_ns - others_ns AS excess_ns
    FROM compared
    QUALIFY row_number() OVER (PARTITION BY profile ORDER BY excess_ns DESC, name) = 1
)
SELECT
    profile,
    rank_id,
    if(
        is_loading,
        'A rank makes the others wait: it loads data longer',
        'A rank makes the others wait: its host is longer in an op'
    ) AS title,
    NULL::VARCHAR AS module,
    name AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        'its host is in this op for {} of each step, the other ranks for {}; the others wait {} longer than this rank in each '
        || 'step',
        shown_time(host_ns),
        shown_time(others_ns),
        shown_time(waited_ns)
    ) AS evidence,
    call_count AS count,
    round(excess_ns * step_count)::BIGINT AS time_ns,
    round(least(excess_ns, win_ns) * step_count)::BIGINT AS win_ns,
    'upper bound' AS kind,
    if(
        is_loading,
        'Raise num_workers and prefetch_factor of its DataLoader, and look at its disk, its page cache and the length of its '
        || 'samples: the other ranks load as much in less time.',
        'Look at what this op does on the host of this rank alone: CPUs shared with other processes, no binding to cores, '
        || 'files or logs that only this rank writes.'
    ) AS what_to_do,
    'docs/rules.md#late-host' AS doc,
    'SELECT rank_id, host_ns, call_count, name FROM op.host_time ORDER BY host_ns DESC LIMIT 20' AS sql
FROM longest
CROSS JOIN threshold
WHERE excess_ns >= least_waited_share * waited_ns AND win_ns > 0
