-- One row is a layer by the positions of its kernels: where it begins and ends.
--
-- layer_id         BIGINT   number, in the order of time
-- anchor_position  BIGINT   position of its anchor, as in layer.segment_kernel
-- first_position   BIGINT   position of its first kernel
-- core_position    BIGINT   position of the first kernel after the norm that opens it; first_position where no norm does
-- last_position    BIGINT   position of its last kernel
-- has_head         BOOLEAN  whether its kernels from the core up to the anchor are the head of a period
-- has_tail         BOOLEAN  whether its kernels from the anchor on are the tail of a period
--
-- Two passes of three layers M A O N F G, anchor A, the first layer of each with other kernels before A (X for M):
--     E N0 X A O N F G N M A O N F G N M A O N F G N L E N0 X A O N F G ...
-- has_head  M is before the second and the third A, but not before the first. There the layer begins with a kernel like M, the
--           first of the usual head, at most two layers away, else with the last kernel on the same cores: X. The norm before
--           it, N0, opens it.
-- has_tail  A O N F G begins at each A. A layer with another tail ends before the residual norm that opens the next.
-- Kernels from the end of a layer to the start of the next, N L E, are between two passes; fewer than 3 belong to the layer.
WITH threshold AS (
    SELECT 3 AS least_between
),
-- The periods that a layer may have: that of its segment, and the nearest known ones before and after.
known_segment AS (
    SELECT
        segment.*,
        lag(segment.symbols) OVER in_order AS symbols_before,
        lag(segment.cores) OVER in_order AS cores_before,
        period.period AS own_period,
        last_value(period.period IGNORE NULLS) OVER (ORDER BY segment.segment ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            AS period_before,
        first_value(period.period IGNORE NULLS) OVER (ORDER BY segment.segment ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
            AS period_behind
    FROM layer.segment
    LEFT JOIN layer.period USING (symbols)
    WINDOW in_order AS (ORDER BY segment.segment)
),
candidate AS (
    SELECT
        known_segment.* EXCLUDE (period_before, period_behind, own_period),
        unnest([own_period, period_behind, period_before]) AS period,
        unnest([1, 2, 3]) AS precedence
    FROM known_segment
    WHERE segment > 0
),
with_tail AS (
    SELECT
        segment,
        anchor_position,
        candidate.symbols,
        block_ends,
        tail_count,
        norm_count,
        kernel_count,
        period.symbols[:tail_count] AS tail,
        candidate.symbols[:tail_count] = tail AS has_tail
    FROM candidate
    JOIN layer.period USING (period)
    QUALIFY row_number() OVER (PARTITION BY segment ORDER BY has_tail DESC, if(has_tail, -tail_count, 0), precedence) = 1
),
ended_segment AS (
    SELECT
        *,
        if(
            has_tail,
            tail_count,
            [an_end FOR an_end IN block_ends[norm_count + 1:] IF an_end <= 2 * kernel_count][1]
        ) AS end_count,
        [i FOR i IN range(1, len(symbols) + 1) IF symbols[i] = tail[-1]][len([1 FOR one IN tail IF one = tail[-1]])]
            AS like_last
    FROM with_tail
),
with_head AS (
    SELECT
        segment,
        symbols_before,
        cores_before,
        coalesce(len(symbols_before), 0) AS count_before,
        head_count,
        opening_count,
        kernel_count,
        period.symbols[kernel_count - head_count + 1:] AS head,
        period.cores[kernel_count - head_count + 1] AS first_core,
        head_count = 0 OR coalesce(symbols_before[-head_count:] = head, false) AS has_head
    FROM candidate
    JOIN layer.period USING (period)
    QUALIFY row_number() OVER (PARTITION BY segment ORDER BY has_head DESC, if(has_head, -head_count, 0), precedence) = 1
),
searched AS (
    SELECT
        *,
        count_before + 1 - if(
            has_head,
            NULL,
            coalesce(
                [i FOR i IN range(1, count_before + 1) IF symbols_before[i] = head[1]]
                    [-len([1 FOR one IN head IF one = head[1]])],
                [i FOR i IN range(1, count_before + 1) IF cores_before[i] = first_core][-1]
            )
        ) AS count_from_like_first
    FROM with_head
),
begun_segment AS (
    SELECT
        ended_segment.*,
        has_head,
        opening_count,
        lag(anchor_position + coalesce(end_count, 0)) OVER in_order AS position_behind_last,
        anchor_position - CASE
            WHEN has_head THEN head_count
            WHEN count_from_like_first <= 2 * searched.kernel_count
                AND count_from_like_first <= count_before - coalesce(lag(end_count) OVER in_order, 0)
                THEN count_from_like_first
            ELSE least(head_count, count_before)
        END AS core_position
    FROM ended_segment
    JOIN searched USING (segment)
    WINDOW in_order AS (ORDER BY segment)
),
opened_segment AS (
    SELECT
        begun_segment.*,
        core_position - CASE
            WHEN opening_count = 0 THEN 0
            WHEN before.part IN ('norm', 'residual norm') THEN 1
            -- A norm with a bias: RmsNorm, Add.
            WHEN before.part = 'add' AND before_that.part IN ('norm', 'residual norm') THEN 2
            ELSE 0
        END AS first_position
    FROM begun_segment
    LEFT JOIN layer.segment_kernel AS before
        ON before.position = core_position - 1 AND before.position >= coalesce(position_behind_last, 1)
    LEFT JOIN layer.segment_kernel AS before_that
        ON before_that.position = core_position - 2 AND before_that.position >= coalesce(position_behind_last, 1)
),
bounded_segment AS (
    SELECT *, lead(first_position) OVER (ORDER BY segment) - 1 AS position_before_next
    FROM opened_segment
)
SELECT
    segment AS layer_id,
    anchor_position,
    first_position,
    core_position,
    least(
        position_before_next,
        CASE
            WHEN position_before_next - (anchor_position + end_count - 1) < least_between THEN position_before_next
            WHEN end_count IS NOT NULL THEN anchor_position + end_count - 1
            WHEN position_before_next - anchor_position < 2 * kernel_count THEN position_before_next
            WHEN like_last <= 2 * tail_count THEN anchor_position + like_last - 1
            ELSE anchor_position + least(tail_count, len(symbols)) - 1
        END
    ) AS last_position,
    has_head,
    has_tail
FROM bounded_segment
CROSS JOIN threshold
