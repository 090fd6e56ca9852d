-- One row is a frame of a Python stack from which an op was called.
--
-- stack_id  BIGINT   the stack
-- depth     BIGINT   0 for the innermost frame, 1 for its caller, and so on
-- frame     VARCHAR  file, line and function: net.py(7): forward, or a built-in function
--
-- Each round goes one caller further out.
WITH RECURSIVE caller AS (
    SELECT stack_id, min(caller_id) AS caller_id, min(name_id) AS name_id
    FROM stack.call_stack
    GROUP BY stack_id
),
outwards AS (
    SELECT stack_id, 0 AS depth, caller_id, name_id
    FROM caller
    WHERE stack_id IN (SELECT stack_id FROM stack.op)
    UNION ALL
    SELECT outwards.stack_id, outwards.depth + 1, caller.caller_id, caller.name_id
    FROM outwards
    JOIN caller ON caller.stack_id = outwards.caller_id
)
SELECT stack_id, depth::BIGINT AS depth, coalesce(frame_without_address(name.text), '(name lost)') AS frame
FROM outwards
LEFT JOIN trace.string AS name ON name.text_id = outwards.name_id
UNION ALL
SELECT stack_id, depth, coalesce(frame, '(name lost)')
FROM trace.stack_frame
