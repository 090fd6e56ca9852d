-- One row is a step and a cause of the idle time of the device in it, the longest first: the activity of the host meanwhile.
-- The causes of a step add up to its idle time.
--
-- @sum gap_count, total_ns
-- @unique bound by from_gap_id: UNION gives no row twice
-- @unique running by cause, gap_id: a cause has one sum up to a bound
--
-- step_id    BIGINT   number of the step; NULL for the whole profile
-- cause      VARCHAR  a cause of free.gap_cause; or 'kernels of no step', which ran in between
-- gap_count  BIGINT   gaps with this cause; NULL for kernels of no step
-- total_ns   BIGINT   their time, ns
-- share      DOUBLE   share of the idle time of the step
WITH bound AS (
    SELECT first_gap_id AS from_gap_id
    FROM free.step_gap
    UNION
    SELECT last_gap_id + 1
    FROM free.step_gap
),
-- The gaps from one bound up to the next lie in the same steps, and are added up first.
between_bounds AS (
    SELECT bound.from_gap_id, part.cause, part.precedence, count(*) AS gap_count, sum(part.duration_ns) AS total_ns
    FROM free.gap_cause AS part
    ASOF JOIN bound ON part.gap_id >= bound.from_gap_id
    GROUP BY bound.from_gap_id, part.cause, part.precedence
),
running AS (
    SELECT
        from_gap_id AS gap_id,
        cause,
        precedence,
        sum(gap_count) OVER up_to AS gap_count,
        sum(total_ns) OVER up_to AS total_ns
    FROM between_bounds
    WINDOW up_to AS (PARTITION BY cause ORDER BY from_gap_id ROWS UNBOUNDED PRECEDING)
),
cause_of_any AS (
    SELECT DISTINCT cause, precedence
    FROM free.gap_cause
),
-- The running sums up to the last gap of a step, minus those up to the gap before its first.
edge AS (
    SELECT step_gap.step_id, cause_of_any.cause, step_gap.last_gap_id AS gap_id, 1 AS sign
    FROM free.step_gap
    -- All pairs: the causes are few.
    CROSS JOIN cause_of_any
    UNION ALL
    SELECT step_gap.step_id, cause_of_any.cause, step_gap.first_gap_id - 1, -1
    FROM free.step_gap
    CROSS JOIN cause_of_any
),
host AS (
    SELECT
        edge.step_id,
        edge.cause,
        min(running.precedence) AS precedence,
        sum(edge.sign * running.gap_count)::BIGINT AS gap_count,
        sum(edge.sign * running.total_ns)::BIGINT AS total_ns
    FROM edge
    ASOF JOIN running ON running.cause = edge.cause AND edge.gap_id >= running.gap_id
    GROUP BY edge.step_id, edge.cause
    HAVING sum(edge.sign * running.gap_count) > 0
),
explained_time AS (
    SELECT step_id, sum(total_ns)::BIGINT AS total_ns
    FROM host
    GROUP BY step_id
),
cause AS (
    FROM host
    UNION ALL BY NAME
    SELECT
        time.step_id,
        'kernels of no step' AS cause,
        11 AS precedence,
        time.free_ns - coalesce(explained_time.total_ns, 0) AS total_ns
    FROM step.time
    LEFT JOIN explained_time ON explained_time.step_id IS NOT DISTINCT FROM time.step_id
    WHERE time.free_ns > coalesce(explained_time.total_ns, 0)
)
SELECT cause.step_id, cause.cause, cause.gap_count, cause.total_ns, cause.total_ns / time.free_ns AS share
FROM cause
JOIN step.time ON time.step_id IS NOT DISTINCT FROM cause.step_id
ORDER BY cause.step_id NULLS LAST, cause.total_ns DESC, cause.precedence
