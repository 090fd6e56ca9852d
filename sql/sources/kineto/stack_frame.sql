-- The frames of a stack are one text, the innermost one first.
WITH stack AS (
    SELECT text_id AS stack_id, list_filter(frames_of_stack(text), lambda frame: frame <> '') AS frames
    FROM trace.string
    WHERE text_id IN (SELECT stack FROM raw.op_stack)
),
place AS (
    SELECT stack_id, frames, unnest(range(len(frames))) AS depth
    FROM stack
)
SELECT stack_id, depth, frames[depth + 1] AS frame
FROM place
