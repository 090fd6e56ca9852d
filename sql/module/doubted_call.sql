-- One row is an outermost module call that may have lain in another one, which the recording does not hold: there is a sign of
-- it, and no proof.
--
-- interval_id  BIGINT  an interval of module.interval
--
-- The signs: module.open_call says so; calls at the edge of the recording are those that a cut in a whole call elsewhere would
-- leave (module.cut); the tracer numbers the modules of a class in the order of their first calls, and some of the numbers are
-- not in the recording; the backward goes on behind the first forward op of the thread, so that the forward had begun before;
-- or no backward follows a forward of several outermost calls that autograd recorded, of which the first one is of a class that
-- does not come again. The first two say which calls lay inside: else these are all outermost ones of the thread, or those up
-- to the backward.
WITH outermost AS (
    SELECT
        interval.interval_id,
        interval.tid,
        interval.start_ns,
        interval.end_ns,
        interval.name_id,
        first_value(interval.name_id) OVER (PARTITION BY interval.tid ORDER BY interval.interval_id) AS first_name_id
    FROM module.interval
    JOIN module.interval_parent USING (interval_id)
    WHERE interval.kind = 'module' AND interval_parent.parent_id IS NULL AND interval.tid >= 0
),
traced_call AS (
    SELECT DISTINCT tid, class_id, number
    FROM trace.module_begin
    WHERE number IS NOT NULL
),
lacking_class AS (
    SELECT class_id
    FROM traced_call
    GROUP BY class_id
    HAVING count(DISTINCT number) <= max(number)
),
first_forward AS (
    SELECT
        forward.tid,
        arg_min(task.tid, (forward.start_ns, task.task_id)) AS task_tid,
        arg_min(task.start_ns, (forward.start_ns, task.task_id)) AS start_ns,
        arg_min(task.end_ns, (forward.start_ns, task.task_id)) AS end_ns
    FROM module.autograd_task AS task
    JOIN trace.op AS forward ON forward.op_id = task.forward_op_id
    WHERE EXISTS (FROM module.unpaired_task)
    GROUP BY forward.tid
),
task AS (
    SELECT tid, start_ns, false AS is_unpaired FROM module.autograd_task WHERE forward_op_id IS NOT NULL
    UNION ALL
    SELECT tid, start_ns, true FROM module.unpaired_task
),
gone_on AS (
    SELECT first_forward.tid, first_forward.start_ns
    FROM first_forward
    JOIN task ON task.tid = first_forward.task_tid AND task.start_ns >= first_forward.end_ns
    GROUP BY first_forward.tid, first_forward.start_ns
    HAVING arg_min(task.is_unpaired, task.start_ns)
),
without_backward AS (
    SELECT tid
    FROM outermost
    WHERE tid IN (SELECT tid FROM module.forward_number)
        AND NOT EXISTS (FROM module.autograd_task)
        AND NOT EXISTS (FROM module.unpaired_task)
    GROUP BY tid
    HAVING count(*) > 2 AND count(*) FILTER (name_id IS NOT DISTINCT FROM first_name_id) = 1
),
doubted_edge AS (
    SELECT edge_call.interval_id
    FROM module.edge_call
    JOIN module.cut USING (tid, edge)
    WHERE NOT cut.is_proven AND edge_call.distance <= cut.call_count
    UNION
    SELECT interval_id
    FROM outermost
    WHERE tid IN (SELECT traced_call.tid FROM traced_call JOIN lacking_class USING (class_id))
    UNION
    SELECT outermost.interval_id
    FROM outermost
    -- All pairs: a thread has one row of each sign.
    JOIN module.open_call ON open_call.tid = outermost.tid AND outermost.start_ns >= open_call.start_ns
    UNION
    SELECT interval_id
    FROM outermost
    WHERE tid IN (SELECT tid FROM without_backward)
    UNION
    SELECT outermost.interval_id
    FROM outermost
    JOIN gone_on ON gone_on.tid = outermost.tid AND outermost.end_ns <= gone_on.start_ns
)
SELECT interval_id
FROM doubted_edge
ANTI JOIN module.unplaced_call USING (interval_id)
