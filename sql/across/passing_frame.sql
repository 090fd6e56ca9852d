-- One row is a frame that tells no work apart on any rank that has it, as in stack.passing_frame.
--
-- frame   VARCHAR  file, line and function
-- reason  VARCHAR  framework or one frame inside
WITH used AS (
    SELECT frame, count(DISTINCT profile) AS rank_count
    FROM stack.by_frame
    GROUP BY frame
),
passing AS (
    SELECT frame, min(reason) AS reason, count(DISTINCT profile) AS rank_count
    FROM stack.passing_frame
    GROUP BY frame
)
SELECT passing.frame, passing.reason
FROM passing
JOIN used ON used.frame = passing.frame AND used.rank_count = passing.rank_count
ORDER BY passing.frame
