-- One row is an op that leaves its work to others: ops inside it, or replayed graphs, launch more than it launches itself. Such
-- a wrapper holds a forward, an optimizer or a user's own code; where nothing inside it runs, Python runs between ops. An op
-- around ops of its own namespace alone, such as aten::linear around aten::addmm, is no wrapper: its library calls those.
--
-- op_id  BIGINT  an op of trace.op, on a thread that requests kernels
WITH requesting_thread AS (
    SELECT DISTINCT tid
    FROM free.request
    WHERE tid IS NOT NULL
),
replay AS (
    SELECT DISTINCT launch_id
    FROM trace.launch
    WHERE is_replay
),
-- Python replays graphs, and no op does.
launch AS (
    SELECT
        kernel_op.op_id AS span_id,
        coalesce(kernel.launch_id, -kernel.kernel_id) AS work_id,
        (replay.launch_id IS NOT NULL)::BIGINT AS is_left
    FROM module.kernel_op
    JOIN trace.kernel USING (kernel_id)
    LEFT JOIN replay USING (launch_id)
),
-- The records of launches inside an op, such as aclnnMm, are its own.
record AS (
    SELECT op_id AS span_id, call_id AS whole_id
    FROM op.launch
),
inside AS (
    SELECT op_id AS span_id, parent_id
    FROM op.parent
    WHERE parent_id IS NOT NULL
),
namespace AS (
    SELECT text_id AS name_id, dense_rank() OVER (ORDER BY split_part(text, '::', 1)) AS namespace
    FROM trace.string
    WHERE contains(text, '::') AND text_id IN (SELECT name_id FROM trace.op)
),
op AS (
    SELECT
        op.op_id AS span_id,
        op.tid,
        op.start_ns,
        op.end_ns,
        namespace.namespace AS kind,
        (requesting_thread.tid IS NOT NULL AND NOT op.is_step)::BIGINT AS may_wrap
    FROM trace.op
    LEFT JOIN requesting_thread USING (tid)
    LEFT JOIN namespace USING (name_id)
)
SELECT span_id AS op_id
FROM wrapping(op, inside, record, launch)
