-- One row is a pass that the choice of tokens at its end shows, with the moment when it begins on the device. Between two
-- choices lie as many rounds of attention as a pass has layers; where they are several times as many, there are several passes,
-- of which only the last one chooses tokens. A quarter of that or fewer are layers of a draft model, and those of one pass are
-- one.
--
-- @guard pass.serving
--
-- start_ns  BIGINT   start of its first kernel on the device, Unix ns
-- is_draft  BOOLEAN  whether it is one of a draft model
WITH segmented AS (
    SELECT *, sum(follows_choice::INTEGER) OVER (ORDER BY round ROWS UNBOUNDED PRECEDING) AS segment
    FROM pass.round
    WHERE EXISTS (FROM pass.round WHERE follows_choice)
       OR EXISTS (FROM trace.serving_kernel WHERE part IN ('sampling', 'verification'))
),
segment AS (
    SELECT segment, count(*) AS round_count
    FROM segmented
    GROUP BY segment
),
of_model AS (
    SELECT arg_max(round_count, (all_count, round_count)) AS layer_count
    FROM (
        SELECT round_count, count(*) * round_count AS all_count
        FROM segment
        GROUP BY round_count
    )
),
-- Passes of a segment, counted from its end.
in_pass AS (
    SELECT
        segmented.*,
        of_model.layer_count,
        (row_number() OVER (PARTITION BY segment ORDER BY round DESC) - 1) // of_model.layer_count AS from_end
    FROM segmented
    -- All pairs: the number of layers is one row.
    CROSS JOIN of_model
),
part AS (
    SELECT
        segment,
        from_end,
        min(round) AS first_round,
        4 * count(*) <= max(layer_count) AS is_draft
    FROM in_pass
    GROUP BY segment, from_end
),
begun AS (
    SELECT
        *,
        NOT coalesce(is_draft AND lag(is_draft) OVER (ORDER BY first_round), false) AS begins
    FROM part
),
-- A pass begins between the last attention and choice of the pass before and its own first attention.
window_of_begin AS (
    SELECT
        round.round,
        begun.is_draft,
        greatest(before.end_ns, coalesce(round.choice_ns, before.end_ns)) AS after_ns,
        round.start_ns AS until_ns
    FROM begun
    JOIN pass.round ON round.round = begun.first_round
    LEFT JOIN pass.round AS before ON before.round = round.round - 1
    WHERE begun.begins
),
in_order AS (
    SELECT
        start_ns,
        start_ns - max(end_ns) OVER (ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS gap_ns
    FROM step.kernel_step
    WHERE kind <> 'copy'
),
candidate AS (
    SELECT window_of_begin.round, window_of_begin.is_draft, in_order.start_ns, in_order.gap_ns
    FROM window_of_begin
    JOIN in_order ON in_order.start_ns > window_of_begin.after_ns AND in_order.start_ns <= window_of_begin.until_ns
    WHERE window_of_begin.after_ns IS NOT NULL
),
-- Of gaps that are about as long the first one counts.
long_gap AS (
    SELECT *, 2 * gap_ns >= max(gap_ns) OVER (PARTITION BY round) AS is_long
    FROM candidate
)
SELECT min(start_ns) AS start_ns, bool_or(is_draft) AS is_draft
FROM long_gap
WHERE is_long
GROUP BY round
UNION ALL
SELECT (SELECT min(start_ns) FROM step.kernel_step), is_draft
FROM window_of_begin
WHERE after_ns IS NULL
ORDER BY start_ns
