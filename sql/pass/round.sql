-- One row is the attention of a layer: kernels of attention that follow each other, with at most two others between them, as
-- where requests in prefill and in decode have calls of their own.
--
-- @guard pass.serving
--
-- round           BIGINT   number, from 1 in the order of time
-- start_ns        BIGINT   start of the first kernel, Unix ns
-- end_ns          BIGINT   last end of its kernels, Unix ns
-- follows_choice  BOOLEAN  whether tokens were chosen or verified since the round before
-- choice_ns       BIGINT   last start of a kernel that did so, Unix ns; NULL without one
WITH in_order AS (
    SELECT
        row_number() OVER (ORDER BY kernel.start_ns, kernel.end_ns, kernel_id) AS position,
        serving_kernel.part,
        kernel.start_ns,
        kernel.end_ns
    FROM trace.kernel
    JOIN kernels.selected USING (kernel_id)
    LEFT JOIN trace.serving_kernel USING (kernel_id)
    WHERE selected.kind = 'compute'
),
attending AS (
    SELECT
        *,
        position - lag(position) OVER (ORDER BY position) > 3 IS NOT FALSE AS is_first
    FROM in_order
    WHERE part IN ('prefill attention', 'decode attention', 'attention')
),
numbered AS (
    SELECT *, sum(is_first::INTEGER) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS round
    FROM attending
),
round AS (
    SELECT round, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM numbered
    GROUP BY round
),
begin AS (
    SELECT DISTINCT start_ns
    FROM round
),
chosen AS (
    SELECT start_ns
    FROM in_order
    WHERE part IN ('sampling', 'verification')
),
-- The choices before each round.
choice AS (
    SELECT start_ns, max(choice_ns) AS choice_ns
    FROM (
        SELECT begin.start_ns, chosen.start_ns AS choice_ns
        FROM chosen
        ASOF JOIN begin ON chosen.start_ns <= begin.start_ns
    )
    GROUP BY start_ns
)
SELECT
    round.round::BIGINT AS round,
    round.start_ns,
    round.end_ns,
    choice.choice_ns IS NOT NULL AS follows_choice,
    choice.choice_ns
FROM round
LEFT JOIN choice USING (start_ns)
ORDER BY round.round
