-- One row is a frame of a Python stack from which an op was called, of the frames that the options choose: with --user-code
-- none of PyTorch and Python itself, with --under only those from the outermost frame on whose text contains it.
--
-- stack_id  BIGINT   the stack
-- depth     BIGINT   0 for the innermost frame; larger for its callers
-- frame     VARCHAR  file, line and function: net.py(7): forward, or a built-in function
WITH chosen_frame AS (
    SELECT *
    FROM stack.every_frame
    WHERE getvariable('user_code') IS NOT true OR NOT is_frame_of_framework(frame)
),
entered_stack AS (
    SELECT stack_id, max(depth) AS depth
    FROM stack.every_frame
    WHERE contains(lower(frame), lower(getvariable('under')))
    GROUP BY stack_id
)
SELECT
    chosen_frame.stack_id,
    row_number() OVER (PARTITION BY chosen_frame.stack_id ORDER BY chosen_frame.depth) - 1 AS depth,
    chosen_frame.frame
FROM chosen_frame
LEFT JOIN entered_stack USING (stack_id)
WHERE getvariable('under') IS NULL OR chosen_frame.depth <= entered_stack.depth
