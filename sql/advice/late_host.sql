-- One row is an op in which the host of a rank is longer than the hosts of those ranks that wait for it: why it comes late.
-- Only where computing does not explain it.
--
-- @title (is_loading) A rank makes the others wait: it loads data longer
-- @title A rank makes the others wait: its host is longer in an op
-- @evidence its host is in this op for {host_ns} of each step, the other ranks for {others_ns}; the others wait {waited_ns}
--     longer than this rank in each step
-- @kind upper bound
-- @remedy (is_loading) Raise num_workers and prefetch_factor of its DataLoader, and look at its disk, its page cache and the
--     length of its samples: the other ranks load as much in less time.
-- @remedy Look at what this op does on the host of this rank alone: CPUs shared with other processes, no binding to cores,
--     files or logs that only this rank writes.
-- @query SELECT rank_id, host_ns, call_count, name FROM op.host_time ORDER BY host_ns DESC LIMIT 20
-- @counts ranks
-- @guard several ranks
-- @requires communication, ops
-- @threshold least_waited_share 0.5: Share of what other ranks wait that the host of the late rank must be longer in an op, as
--     for the causes of slow-ranks
--
-- @columns profile to rank_id, op, count to win_ns as in advice.finding_of_rank
-- is_loading  BOOLEAN  whether the op loads data
-- host_ns     DOUBLE   time of its host in the op in a step, ns
-- others_ns   DOUBLE   the median of the other ranks, ns
-- waited_ns   DOUBLE   what the others wait longer than this rank in a step, ns
--
-- Why a rank of [slow rank](#slow-rank) comes late, if computing does not explain it. From `op.host_time`, the rule takes the
-- op in which its host spends more time than the median of the waiting ranks, by at least half of their waiting time
-- (`late_host.least_waited_share`). If that op loads data, the title says so, also if the loader runs between two steps. The
-- win is the smaller of both times, an **upper bound**. It is part of the win of slow rank: do not add it.
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_waited_share') AS least_waited_share
    FROM advice.threshold
    WHERE rule = 'late_host'
),
exposed_time AS (
    SELECT profile, sum(communication_not_overlapped_ns) / count(*) AS exposed_ns
    FROM step.time
    WHERE stage_ns IS NOT NULL OR origin = 'profiler'
    GROUP BY profile
),
waiting_rank AS (
    SELECT slow_rank.*, exposed_time.exposed_ns
    FROM across.slow_rank
    LEFT JOIN exposed_time USING (profile)
    WHERE NOT is_slow
),
-- As in slow_rank.
slow AS (
    SELECT
        slow.profile,
        slow.rank_id,
        slow.step_count,
        avg(waiting_rank.waited_ns - slow.waited_ns) AS waited_ns,
        avg(least(waiting_rank.waited_ns - slow.waited_ns, waiting_rank.exposed_ns)) AS win_ns
    FROM across.slow_rank AS slow
    CROSS JOIN waiting_rank
    WHERE slow.is_slow
    GROUP BY slow.profile, slow.rank_id, slow.step_count, slow.computing_ns
    HAVING coalesce(
        slow.computing_ns - avg(waiting_rank.computing_ns) < 0.5 * avg(waiting_rank.waited_ns - slow.waited_ns), true
    )
),
-- Ranks of which ops are recorded.
other AS (
    SELECT waiting_rank.profile, waiting_rank.step_count
    FROM waiting_rank
    WHERE waiting_rank.profile IN (SELECT profile FROM op.host_time)
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
compared_op AS (
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
    FROM compared_op
    QUALIFY row_number() OVER (PARTITION BY profile ORDER BY excess_ns DESC, name) = 1
)
SELECT
    profile,
    rank_id,
    name AS op,
    call_count AS count,
    round(excess_ns * step_count)::BIGINT AS time_ns,
    round(least(excess_ns, win_ns) * step_count)::BIGINT AS win_ns,
    is_loading,
    host_ns,
    others_ns,
    waited_ns
FROM longest
CROSS JOIN threshold
WHERE excess_ns >= least_waited_share * waited_ns AND win_ns > 0
