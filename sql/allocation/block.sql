-- One row is a block of memory: by which op in which module it was allocated, and how long it lived. Most profiles have only
-- the blocks that were allocated during the recording.
--
-- @columns block_id to device_id as in allocation.every_block
-- @columns stream_id to op_name_id as in allocation.every_block
-- parent_module    VARCHAR  names of the modules around that of the op, joined by '/'; '' for an outermost module; NULL outside
--                           modules, and where the op is not known
-- module           VARCHAR  class name of the module, with [Backward] before it in the backward; NULL outside modules, and
--                           where the op is not known
-- @columns size_bytes to used_until_ns as in allocation.every_block
-- lifetime_ns      BIGINT   released_ns - allocated_ns; NULL when not released
-- lifetime         ENUM('op', 'module call', 'step', 'several steps', 'recording', 'not released')  the shortest of these
--                           within which it was released, as in allocation.every_block
-- step_id          BIGINT   the step in which it was allocated; NULL outside steps
-- is_live_at_peak  BOOLEAN  whether it was alive when most was allocated
-- @columns requested_bytes as in allocation.every_block
-- @columns site_id as in allocation.every_block
SELECT
    block.block_id,
    block.component,
    block.role,
    block.device_id,
    block.stream_id,
    block.op_name_id,
    path.parent_module,
    path.module,
    block.size_bytes,
    block.allocated_ns,
    block.released_ns,
    block.used_until_ns,
    block.released_ns - block.allocated_ns AS lifetime_ns,
    block.lifetime,
    block.step_id,
    live.block_id IS NOT NULL AS is_live_at_peak,
    block.requested_bytes,
    block.site_id
FROM allocation.every_block AS block
LEFT JOIN module.path USING (path_id)
LEFT JOIN allocation.live_block AS live ON live.block_id = block.block_id AND live.measure = 'allocated'
WHERE block.is_chosen
ORDER BY block.allocated_ns, block.released_ns, block.size_bytes, block.device_id, block.block_id
