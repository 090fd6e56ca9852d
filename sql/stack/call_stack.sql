-- One row is a call of a Python function and its stack: the call and the calls around it. Equal stacks have the same id.
--
-- frame_id   BIGINT   a call of stack.frame_call
-- stack_id   BIGINT   its stack: a hash of 63 bits
-- caller_id  BIGINT   the stack of the call around it; NULL for an outermost one
-- name_id    TEXT_ID  its frame, as in stack.frame_call
--
-- Each round goes one call further in.
WITH RECURSIVE called_frame AS (
    SELECT frame_id, path_key(1::UHUGEINT, name_id, 0) AS key, NULL::UHUGEINT AS caller_key, name_id
    FROM stack.frame_call
    WHERE parent_id IS NULL
    UNION ALL
    SELECT inner_call.frame_id, path_key(called_frame.key, inner_call.name_id, 0), called_frame.key, inner_call.name_id
    FROM called_frame
    JOIN stack.frame_call AS inner_call ON inner_call.parent_id = called_frame.frame_id
)
SELECT frame_id, (key >> 65)::BIGINT AS stack_id, (caller_key >> 65)::BIGINT AS caller_id, name_id
FROM called_frame
