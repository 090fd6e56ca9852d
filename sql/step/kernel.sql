-- One row is a compute or communication kernel and the step that it belongs to: the one in which the op that launched it
-- started.
--
-- kernel_id   BIGINT   a kernel of trace.kernel
-- step_id     BIGINT   a step of trace.step; NULL when no op launched it, when that op started in no step, and without steps
-- kind        ENUM('compute', 'communication', 'schedule')  what it is; helpers that schedule communication have no row
-- is_receive  BOOLEAN  whether it waits for another pipeline stage: its name begins with hcom_receive
-- start_ns    BIGINT   start, Unix ns
-- end_ns      BIGINT   end, Unix ns
WITH step_begin AS (
    SELECT start_ns, max(end_ns) AS end_ns, arg_max(step_id, (end_ns, step_id)) AS step_id
    FROM trace.step
    WHERE start_ns IS NOT NULL
    GROUP BY start_ns
),
linked AS (
    SELECT link.kernel_id, op.start_ns
    FROM module.link
    JOIN trace.op USING (op_id)
),
told_by_op AS (
    SELECT linked.kernel_id, step_begin.step_id
    FROM linked
    ASOF JOIN step_begin ON linked.start_ns >= step_begin.start_ns
    WHERE linked.start_ns < step_begin.end_ns
),
-- A profile without any ops can still say of each kernel which step it is of.
told_by_profile AS (
    SELECT kernel_id, step_id
    FROM trace.kernel
    WHERE step_id IS NOT NULL AND NOT EXISTS (FROM trace.op)
),
told AS (
    FROM told_by_op
    UNION ALL
    FROM told_by_profile
)
SELECT
    kernel.kernel_id,
    told.step_id,
    kernel.kind,
    coalesce(kernel.kind = 'communication' AND starts_with(name.text, 'hcom_receive'), false) AS is_receive,
    kernel.start_ns,
    kernel.end_ns
FROM trace.kernel
LEFT JOIN told USING (kernel_id)
LEFT JOIN trace.string AS name ON name.text_id = kernel.name_id
WHERE kernel.kind <> 'schedule'
