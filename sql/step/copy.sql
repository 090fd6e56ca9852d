-- One row is a step and a direction of copies, or all copies of the step, whose direction is 'all'. Time in which copies
-- overlap counts once, so that the rows of a step can add up to more than its row 'all'. Without steps, the rows are those of
-- the whole profile; with steps, copies of no step have rows of their own.
--
-- @guard trace.copy
-- @unique covered by start_ns: covered() has a row a moment
--
-- step_id            BIGINT   number of the step; NULL for the whole profile and for copies of no step
-- direction          VARCHAR  what they do, as in trace.copy; all for all copies of the step; NULL when not recorded
-- copy_count         BIGINT   copies
-- copying_ns         BIGINT   time with such a copy, ns
-- overlapped_ns      BIGINT   time with such a copy and a compute kernel or communication operator of any step, ns
-- not_overlapped_ns  BIGINT   time with such a copy alone, ns: copying - overlapped
-- in_free_ns         BIGINT   part of not_overlapped_ns that is part of free_ns of step.time, ns; 0 where copies are kernels,
--                             in whose time no step is free; NULL for copies of no step
-- size_bytes         BIGINT   bytes of the copies whose bytes are recorded; NULL when those of none are
-- unsized_count      BIGINT   copies whose bytes are not recorded
-- max_ns             BIGINT   longest of them, ns
WITH of_step AS (
    SELECT copy_step.step_id, copy.*
    FROM trace.copy
    JOIN step.copy_step USING (copy_id)
    WHERE getvariable('step_id') IS NULL OR copy_step.step_id = getvariable('step_id')
),
chosen_copy AS (
    SELECT * REPLACE (direction::VARCHAR AS direction)
    FROM of_step
    UNION ALL
    SELECT * REPLACE ('all' AS direction)
    FROM of_step
),
-- The part of each copy that no earlier one of its row covers.
piece AS (
    SELECT step_id, direction, kernel_id, from_ns AS start_ns, end_ns
    FROM added(chosen_copy, (step_id, direction))
    WHERE end_ns > from_ns
),
busy_kernel AS (
    SELECT start_ns, end_ns
    FROM trace.kernel
    WHERE kind IN ('compute', 'communication')
),
covered AS (
    SELECT start_ns, covered_ns, reached_ns
    FROM covered(busy_kernel)
),
span AS (
    SELECT step_id, min(start_ns) AS first_ns, max(end_ns) AS last_ns
    FROM step.kernel_step
    WHERE step_id IS NULL OR NOT EXISTS (FROM step.overlap)
    GROUP BY step_id
    UNION ALL
    SELECT step_id, start_ns, end_ns
    FROM step.turn
),
part AS (
    SELECT step_id, direction, false AS is_in_span, start_ns, end_ns
    FROM piece
    UNION ALL
    SELECT piece.step_id, piece.direction, true, greatest(piece.start_ns, first_ns), least(piece.end_ns, last_ns)
    FROM piece
    JOIN span ON span.step_id IS NOT DISTINCT FROM piece.step_id
    WHERE piece.kernel_id IS NULL AND least(piece.end_ns, last_ns) > greatest(piece.start_ns, first_ns)
),
measured_part AS (
    SELECT
        part.step_id,
        part.direction,
        part.is_in_span,
        part.end_ns - part.start_ns AS part_ns,
        covered_until(at_end.covered_ns, at_end.reached_ns, part.end_ns)
            - covered_until(at_start.covered_ns, at_start.reached_ns, part.start_ns) AS busy_ns
    FROM part
    ASOF LEFT JOIN covered AS at_end ON at_end.start_ns <= part.end_ns
    ASOF LEFT JOIN covered AS at_start ON at_start.start_ns <= part.start_ns
),
direction_time AS (
    SELECT
        step_id,
        direction,
        coalesce(sum(part_ns) FILTER (NOT is_in_span), 0)::BIGINT AS copying_ns,
        coalesce(sum(busy_ns) FILTER (NOT is_in_span), 0)::BIGINT AS overlapped_ns,
        coalesce(sum(part_ns - busy_ns) FILTER (is_in_span), 0)::BIGINT AS in_free_ns
    FROM measured_part
    GROUP BY step_id, direction
),
direction_count AS (
    SELECT
        step_id,
        direction,
        count(*) AS copy_count,
        sum(size_bytes)::BIGINT AS size_bytes,
        count(*) FILTER (size_bytes IS NULL) AS unsized_count,
        max(duration_ns) AS max_ns
    FROM chosen_copy
    GROUP BY step_id, direction
)
SELECT
    direction_count.step_id,
    direction_count.direction,
    direction_count.copy_count,
    coalesce(direction_time.copying_ns, 0) AS copying_ns,
    coalesce(direction_time.overlapped_ns, 0) AS overlapped_ns,
    coalesce(direction_time.copying_ns - direction_time.overlapped_ns, 0) AS not_overlapped_ns,
    if(
        direction_count.step_id IS NULL AND EXISTS (FROM trace.step),
        NULL,
        coalesce(direction_time.in_free_ns, 0)
    ) AS in_free_ns,
    direction_count.size_bytes,
    direction_count.unsized_count,
    direction_count.max_ns
FROM direction_count
LEFT JOIN direction_time
    ON direction_time.step_id IS NOT DISTINCT FROM direction_count.step_id
    AND direction_time.direction IS NOT DISTINCT FROM direction_count.direction
ORDER BY
    direction_count.step_id NULLS LAST,
    coalesce(direction_count.direction <> 'all', true),
    direction_count.direction NULLS LAST
