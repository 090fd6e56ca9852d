-- One row is a pass and a cause of the idle time of the device in it, or in the time before it that belongs to no pass: the
-- activity of the host meanwhile. The causes of a pass add up to its idle time, those before it to the idle time there.
--
-- @guard pass.kernel
-- @sum gap_count, total_ns
--
-- pass_id    BIGINT   a pass of pass.instance; NULL behind the last one
-- is_before  BOOLEAN  whether it is about the time before the pass, after the passes before it
-- cause      VARCHAR  a cause of free.gap_cause
-- gap_count  BIGINT   gaps with this cause
-- total_ns   BIGINT   their time, ns
-- share      DOUBLE   part of the idle time of the pass, or of the time before it
WITH gap AS (
    SELECT gap_id, start_ns, end_ns
    FROM free.gap
),
turn AS (
    SELECT pass_id, next_id, start_ns, end_ns
    FROM pass.turn
),
placed AS (
    FROM gaps_of_turns(gap, turn)
),
summed AS (
    SELECT
        coalesce(placed.pass_id, placed.next_id) AS pass_id,
        placed.pass_id IS NULL AS is_before,
        part.cause,
        min(part.precedence) AS precedence,
        count(*) AS gap_count,
        sum(part.duration_ns)::BIGINT AS total_ns
    FROM placed
    JOIN free.gap_cause AS part USING (gap_id)
    GROUP BY coalesce(placed.pass_id, placed.next_id), placed.pass_id IS NULL, part.cause
)
SELECT
    pass_id,
    is_before,
    cause,
    gap_count,
    total_ns,
    total_ns / nullif(sum(total_ns) OVER (PARTITION BY pass_id, is_before), 0) AS share
FROM summed
ORDER BY pass_id NULLS LAST, is_before DESC, total_ns DESC, precedence
