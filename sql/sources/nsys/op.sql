-- The text of an op has autograd's sequence number, but not the thread of the forward. A backward node is known by its name;
-- its forward thread is the one that had an op with its number. Where several threads had, nothing says which, and the number
-- is left out.
WITH backward_name AS (
    SELECT text_id AS name
    FROM trace.string
    WHERE regexp_matches(text, '(Backward\d*$)|^torch::autograd::')
),
numbered_op AS (
    SELECT pid, thread_id(pid, tid) AS thread, sequence_number, start_ns
    FROM raw.nvtx_op
    ANTI JOIN backward_name USING (name)
    WHERE sequence_number IS NOT NULL
),
forward_thread AS (
    SELECT thread, row_number() OVER (ORDER BY min(start_ns), thread) AS position, count(*) OVER () AS thread_count
    FROM numbered_op
    GROUP BY thread
),
owner AS (
    SELECT
        numbered_op.pid,
        numbered_op.sequence_number,
        min(forward_thread.position) AS position,
        min(forward_thread.position) < max(forward_thread.position) AS is_shared
    FROM numbered_op
    JOIN forward_thread USING (thread)
    WHERE forward_thread.thread_count > 1
    GROUP BY numbered_op.pid, numbered_op.sequence_number
)
SELECT
    nvtx_op.event_id AS op_id,
    thread_id(nvtx_op.pid, nvtx_op.tid) AS tid,
    nvtx_op.name AS name_id,
    nvtx_op.start_ns,
    nvtx_op.end_ns,
    nvtx_op.end_ns - nvtx_op.start_ns AS duration_ns,
    false AS is_step,
    if(backward_name.name IS NOT NULL AND coalesce(owner.is_shared, false), NULL, nvtx_op.sequence_number)
        AS sequence_number,
    if(backward_name.name IS NULL, 0, coalesce(owner.position, 1))::BIGINT AS forward_thread_id,
    nvtx_op.input_shapes AS input_shapes_id,
    NULL::BIGINT AS input_types_id
FROM raw.nvtx_op
LEFT JOIN backward_name USING (name)
LEFT JOIN owner ON owner.pid = nvtx_op.pid AND owner.sequence_number = nvtx_op.sequence_number
WHERE is_host_time(nvtx_op.start_ns, nvtx_op.end_ns)
