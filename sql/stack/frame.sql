-- One row is a frame of a Python stack from which an op was called, of the frames that the options choose: with --user-code
-- none of PyTorch and Python itself, with --under only those from the outermost frame on whose text contains it.
--
-- stack_id  BIGINT   the stack
-- depth     BIGINT   0 for the innermost frame; larger for its callers
-- frame     VARCHAR  file, line and function: net.py(7): forward, or a built-in function
WITH chosen AS (
    SELECT *
    FROM stack.every_frame
    WHERE getvariable('user_code') IS NOT true OR NOT is_frame_of_framework(frame)
),
entered AS (
    SELECT stack_id, max(depth) AS depth
    FROM stack.every_frame
    WHERE contains(lower(frame), lower(getvariable('under')))
    GROUP BY stack_id
)
SELECT
    chosen.stack_id,
    row_number() OVER (PARTITION BY chosen.stack_id ORDER BY chosen.depth) - 1 AS depth,
    chosen.frame
FROM chosen
LEFT JOIN entered USING (stack_id)
WHERE getvariable('under') IS NULL OR chosen.depth <= entered.depth
