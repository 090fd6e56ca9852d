-- One row is a stack with the place in the program that called the allocator: the innermost frame of the user's own Python,
-- else of PyTorch's; without any, the node of autograd, the op, else the innermost native frame that says something.
--
-- @guard trace.memory_stack
--
-- stack_id     BIGINT     a stack of trace.memory_stack
-- site_id      TEXT_ID    the place: train.py(82): step, MmBackward0, aten::mm
-- frames       VARCHAR[]  the frames of Python, the outermost first; without any, the node of autograd and the op
-- all_frames   VARCHAR[]  all frames, the outermost first: those of Python, then the native ones
WITH frame AS (
    SELECT
        memory_frame.*,
        string.text,
        CASE
            WHEN memory_frame.is_python AND NOT is_frame_of_framework(string.text) THEN 0
            WHEN memory_frame.is_python THEN 1
            WHEN memory_frame.is_allocator THEN 4
            ELSE 3
        END AS rank
    FROM trace.memory_frame
    LEFT JOIN trace.string ON string.text_id = memory_frame.frame_id
),
stack AS (
    SELECT
        stack_id,
        bool_or(is_python) AS has_python,
        arg_min(frame_id, (rank, depth)) AS frame_id,
        list(coalesce(text, '(name lost)') ORDER BY depth DESC) FILTER (is_python) AS python_frames,
        list(coalesce(text, '(name lost)') ORDER BY depth DESC) FILTER (NOT is_python AND NOT is_allocator) AS native_frames
    FROM frame
    GROUP BY stack_id
)
SELECT
    memory_stack.stack_id,
    if(stack.has_python, stack.frame_id, coalesce(memory_stack.autograd_id, memory_stack.op_id, stack.frame_id)) AS site_id,
    coalesce(stack.python_frames, list_filter([node.text, op.text], lambda text: text IS NOT NULL)) AS frames,
    list_concat(coalesce(stack.python_frames, []), coalesce(stack.native_frames, [])) AS all_frames
FROM trace.memory_stack
LEFT JOIN stack USING (stack_id)
LEFT JOIN trace.string AS node ON node.text_id = memory_stack.autograd_id
LEFT JOIN trace.string AS op ON op.text_id = memory_stack.op_id
