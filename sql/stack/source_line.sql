-- One row is a Python stack and the innermost of its frames that is neither of PyTorch nor of Python itself.
--
-- stack_id     BIGINT   a stack of stack.every_frame
-- source_line  VARCHAR  file, line and function: net.py(7): forward; NULL without such a frame
SELECT stack_id, arg_min(frame, depth) FILTER (NOT is_frame_of_framework(frame)) AS source_line
FROM stack.every_frame
GROUP BY stack_id
