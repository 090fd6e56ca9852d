-- Steps of torch.profiler, else ranges that users number, such as `step 7`. Where a thread counts anew, as in each epoch, steps
-- are numbered in the order of time.
WITH numbered_range AS (
    SELECT
        range.tid,
        number_of_step(string.text) AS number,
        is_name_of_step(string.text) AS is_of_profiler,
        range.start_ns,
        range.end_ns
    FROM trace.range
    JOIN trace.string ON string.text_id = range.recorded_name_id
    WHERE range.role = 'step'
),
chosen_range AS (
    SELECT
        tid,
        number,
        start_ns,
        end_ns,
        coalesce(
            max(end_ns) OVER (
                PARTITION BY tid, number ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) <= start_ns,
            false
        ) AS comes_again
    FROM numbered_range
    WHERE is_of_profiler = (SELECT bool_or(is_of_profiler) FROM numbered_range)
),
step_range AS (
    SELECT
        if((SELECT bool_or(comes_again) FROM chosen_range), dense_rank() OVER (ORDER BY start_ns) - 1, number) AS step_id,
        start_ns,
        end_ns
    FROM chosen_range
)
SELECT step_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
FROM step_range
GROUP BY step_id
