-- One row is a block of memory with the op and the module call that allocated it, and how long it lived. With a step chosen,
-- the blocks of other steps are here too.
--
-- @guard trace.memory_block
--
-- @columns block_id to role as in trace.memory_block
-- @columns device_id to stream_id as in trace.memory_block
-- op_name_id     TEXT_ID  the op that allocated it; for a record of a launch, such as aclnnMm, the op around that; what the
--                         profile says where no op is found; NULL when that is not recorded
-- path_id        BIGINT   the path of module.path of the module call, or of the backward work, that allocated it; NULL outside
--                         modules, and where the op is not known
-- size_bytes     BIGINT   its size; in a snapshot, what was asked for, rounded up to 512 bytes, where the block is not held at
--                         its end
-- allocated_ns   BIGINT   when it was allocated, Unix ns; NULL when that was before the recording
-- released_ns    BIGINT   when the host released it, Unix ns; NULL when it did not during the recording
-- used_until_ns  BIGINT   when no stream used it any more, at the earliest released_ns, Unix ns; NULL when not released
-- step_id        BIGINT   the step in which it was allocated; NULL outside steps
-- is_chosen      BOOLEAN  whether it was allocated in the chosen step; true without one
-- lifetime       ENUM('op', 'module call', 'step', 'several steps', 'recording', 'not released')  the shortest of these within
--                         which it was released: the op that allocated it; the module call, or task of the autograd engine,
--                         around that op; the step; a later step; the recording, where steps do not say it
-- requested_bytes  BIGINT  what the program asked for; NULL when not recorded
-- stack_id       BIGINT   a stack of trace.memory_stack: what was called; NULL when not recorded
-- site_id        TEXT_ID  the place in the program that called it, as in allocation.call_site; NULL when not recorded
WITH placed_block AS (
    SELECT
        block.*,
        coalesce(call_op.name_id, op.name_id) AS op_name_id,
        coalesce(block_op.task_end_ns, op.end_ns) AS op_end_ns,
        interval.end_ns AS interval_end_ns,
        path.path_id
    FROM trace.memory_block AS block
    LEFT JOIN allocation.block_op USING (block_id)
    LEFT JOIN trace.op ON op.op_id = block_op.op_id
    LEFT JOIN op.launch ON launch.op_id = block_op.op_id
    LEFT JOIN trace.op AS call_op ON call_op.op_id = launch.call_id
    LEFT JOIN allocation.op_interval ON op_interval.op_id = block_op.op_id
    LEFT JOIN module.interval ON interval.interval_id = op_interval.interval_id
    LEFT JOIN module.call ON call.interval_id = op_interval.interval_id
    LEFT JOIN module.path ON path.path_key = call.path_key AND path.is_backward = call.is_backward
),
block_from_step AS (
    SELECT placed_block.*, if(placed_block.allocated_ns < period.end_ns, period.step_id, NULL) AS step_id
    FROM placed_block
    ASOF LEFT JOIN step.period ON placed_block.allocated_ns >= period.start_ns
),
block_to_step AS (
    SELECT block_from_step.*, if(block_from_step.released_ns < period.end_ns, period.step_id, NULL) AS released_step_id
    FROM block_from_step
    ASOF LEFT JOIN step.period ON block_from_step.released_ns >= period.start_ns
)
SELECT
    block_id,
    component,
    role,
    device_id,
    stream_id,
    coalesce(op_name_id, name_id) AS op_name_id,
    path_id,
    size_bytes,
    allocated_ns,
    released_ns,
    if(released_ns IS NULL, NULL, greatest(released_ns, reusable_ns)) AS used_until_ns,
    step_id,
    getvariable('step_id') IS NULL OR coalesce(step_id = getvariable('step_id'), false) AS is_chosen,
    CASE
        WHEN released_ns IS NULL THEN 'not released'
        WHEN released_ns <= op_end_ns THEN 'op'
        WHEN released_ns <= interval_end_ns THEN 'module call'
        WHEN step_id = released_step_id THEN 'step'
        WHEN step_id <> released_step_id THEN 'several steps'
        ELSE 'recording'
    END::ENUM('op', 'module call', 'step', 'several steps', 'recording', 'not released') AS lifetime,
    requested_bytes,
    stack_id,
    call_site.site_id
FROM block_to_step
LEFT JOIN allocation.call_site USING (stack_id)
