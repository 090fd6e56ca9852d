-- One row is a call of a Python function on a timeline; without the option python_frames there is none.
--
-- @guard timeline.python_asked
--
-- @columns frame_id to end_ns as in trace.frame
--
-- Calls of modules are ranges of trace.range already.
WITH of_module AS (
    SELECT text_id AS name_id
    FROM trace.string
    -- Knows nn.module: the Python tracer of PyTorch writes calls of modules so in all formats.
    WHERE starts_with(text, 'nn.Module: ')
)
SELECT frame.frame_id, frame.tid, frame.name_id, frame.start_ns, frame.end_ns
FROM trace.frame
ANTI JOIN of_module USING (name_id)
