-- One row is a block of memory and the op that allocated it: the innermost op around the moment on its thread or, where the
-- thread is not known, the innermost one of the name that the profile records.
--
-- block_id     BIGINT  a block of trace.memory_block; one whose op is not known has no row
-- op_id        BIGINT  an op of trace.op
-- task_end_ns  BIGINT  when the task of the queue thread that allocated it had run, Unix ns; NULL where none did
WITH RECURSIVE last_started AS (
    SELECT tid, start_ns, arg_max(op_id, (-end_ns, op_id)) AS op_id
    FROM trace.op
    WHERE NOT is_step
    GROUP BY tid, start_ns
),
climb AS (
    SELECT moment.block_id, moment.moment_ns, moment.is_of_queue, moment.task_end_ns, op.op_id, op.end_ns
    FROM allocation.moment
    ASOF JOIN last_started ON last_started.tid = moment.tid AND last_started.start_ns <= moment.moment_ns
    JOIN trace.op ON op.op_id = last_started.op_id
    WHERE moment.name_id IS NULL
    UNION ALL
    SELECT climb.block_id, climb.moment_ns, climb.is_of_queue, climb.task_end_ns, op.op_id, op.end_ns
    FROM climb
    JOIN op.parent USING (op_id)
    JOIN trace.op ON op.op_id = parent.parent_id
    WHERE climb.end_ns < climb.moment_ns AND NOT op.is_step
),
named_op AS (
    SELECT op_id, tid, name_id, start_ns, end_ns
    FROM trace.op
    SEMI JOIN allocation.moment USING (name_id)
    WHERE NOT is_step
),
op_thread AS (SELECT DISTINCT tid FROM named_op),
named_moment AS (
    SELECT moment.* REPLACE (coalesce(moment.tid, op_thread.tid) AS tid)
    FROM allocation.moment
    JOIN op_thread ON moment.tid IS NULL OR moment.tid = op_thread.tid
    WHERE moment.name_id IS NOT NULL
),
innermost AS (
    SELECT tid, name_id, start_ns, arg_max(op_id, (-end_ns, op_id)) AS op_id, min(end_ns) AS end_ns, false AS is_outermost
    FROM named_op
    GROUP BY tid, name_id, start_ns
),
outermost AS (
    SELECT tid, name_id, start_ns, arg_max(op_id, (end_ns, -op_id)) AS op_id, max(end_ns) AS end_ns, true AS is_outermost
    FROM reached_before(named_op, (tid, name_id), op_id)
    -- Not in another op of its name.
    WHERE coalesce(reached_ns < end_ns, true)
    GROUP BY tid, name_id, start_ns
),
-- The last op of the name that started before the moment is around it, unless it has ended: then the one around it may be.
op_of_block AS (
    SELECT moment.block_id, moment.is_of_queue, moment.task_end_ns, op.op_id, op.start_ns, op.is_outermost
    FROM named_moment AS moment
    ASOF JOIN innermost AS op ON op.tid = moment.tid AND op.name_id = moment.name_id AND op.start_ns <= moment.moment_ns
    WHERE op.end_ns >= moment.moment_ns
    UNION ALL
    SELECT moment.block_id, moment.is_of_queue, moment.task_end_ns, op.op_id, op.start_ns, op.is_outermost
    FROM named_moment AS moment
    ASOF JOIN outermost AS op ON op.tid = moment.tid AND op.name_id = moment.name_id AND op.start_ns <= moment.moment_ns
    WHERE op.end_ns >= moment.moment_ns
    UNION ALL
    SELECT climb.block_id, climb.is_of_queue, climb.task_end_ns, climb.op_id, op.start_ns, false
    FROM climb
    JOIN trace.op USING (op_id)
    WHERE climb.end_ns >= climb.moment_ns
)
-- Work of the thread itself counts before work that it may have done for another thread; a block of a queue thread has only
-- this.
SELECT block_id, op_id, task_end_ns
FROM op_of_block
QUALIFY row_number() OVER (PARTITION BY block_id ORDER BY is_of_queue, is_outermost, start_ns DESC, op_id, task_end_ns) = 1
