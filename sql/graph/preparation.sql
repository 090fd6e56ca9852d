-- One row is a call of a compiled graph with the aten ops in its Python part, by purpose; ops inside other aten ops are left
-- out.
--
-- @unique python_part by start_ns, tid: calls of a thread do not overlap
--
-- call_id           BIGINT  a call of graph.inference
-- creation_count    BIGINT  ops that build tensors from scalars and lists
-- creation_ns       BIGINT  their time, ns
-- contiguous_count  BIGINT  aten::contiguous of inputs
-- contiguous_ns     BIGINT  their time, ns
-- clone_count       BIGINT  aten::clone of inputs
-- clone_ns          BIGINT  their time, ns
-- other_count       BIGINT  other aten ops
-- other_ns          BIGINT  their time, ns
WITH aten AS (
    SELECT
        text_id,
        CASE
            WHEN text = 'aten::contiguous' THEN 'contiguous'
            WHEN text = 'aten::clone' THEN 'clone'
            WHEN text IN (
                'aten::tensor', 'aten::scalar_tensor', 'aten::lift_fresh', 'aten::detach_', 'aten::empty', 'aten::fill_',
                'aten::full', 'aten::zeros', 'aten::ones', 'aten::arange', 'aten::to', 'aten::_to_copy'
            ) THEN 'creation'
            ELSE 'other'
        END AS purpose
    FROM trace.string
    WHERE starts_with(text, 'aten::')
),
python_part AS (
    SELECT call.call_id, call.tid, call.start_ns, coalesce(execution.run_ns, execution.execute_ns, call.end_ns) AS end_ns
    FROM graph.inference AS call
    LEFT JOIN graph.execution USING (call_id)
),
op_inside AS (
    SELECT python_part.call_id, aten.purpose, op.op_id, op.start_ns, op.end_ns, op.duration_ns
    FROM trace.op
    JOIN aten ON aten.text_id = op.name_id
    ASOF JOIN python_part ON python_part.tid = op.tid AND op.start_ns >= python_part.start_ns
    WHERE op.end_ns <= python_part.end_ns
)
SELECT
    call_id,
    count(*) FILTER (purpose = 'creation') AS creation_count,
    coalesce(sum(duration_ns) FILTER (purpose = 'creation'), 0)::BIGINT AS creation_ns,
    count(*) FILTER (purpose = 'contiguous') AS contiguous_count,
    coalesce(sum(duration_ns) FILTER (purpose = 'contiguous'), 0)::BIGINT AS contiguous_ns,
    count(*) FILTER (purpose = 'clone') AS clone_count,
    coalesce(sum(duration_ns) FILTER (purpose = 'clone'), 0)::BIGINT AS clone_ns,
    count(*) FILTER (purpose = 'other') AS other_count,
    coalesce(sum(duration_ns) FILTER (purpose = 'other'), 0)::BIGINT AS other_ns
FROM reached_before(op_inside, call_id, op_id)
WHERE coalesce(start_ns >= reached_ns, true)
GROUP BY call_id
