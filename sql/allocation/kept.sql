-- One row is an op in a module whose blocks of memory stay: allocated in a step before the last one, and not released during
-- the recording. Blocks of the last step may still be released, so they do not count. With one step there are no rows.
--
-- @guard trace.memory_block
--
-- op_name_id      TEXT_ID  the op that allocated them; NULL when not recorded
-- parent_module   VARCHAR  names of the modules around that of the op, joined by '/'; '' for an outermost module; NULL outside
--                          modules
-- module          VARCHAR  class name of the module, with [Backward] before it in the backward; NULL outside modules
-- @columns component to device_id as in allocation.every_block
-- block_count     BIGINT   blocks that stay
-- kept_bytes      BIGINT   their bytes
-- steps_with      BIGINT   steps in which it allocated one of them
-- step_count      BIGINT   steps before the last one
-- bytes_per_step  DOUBLE   kept_bytes / step_count
-- is_leak         BOOLEAN  whether blocks of each of these steps stay, of at least two
WITH last_step AS (
    SELECT max(step_id) AS step_id, count(DISTINCT step_id) - 1 AS step_count
    FROM step.period
)
SELECT
    block.op_name_id,
    path.parent_module,
    path.module,
    block.component,
    block.role,
    block.device_id,
    count(*) AS block_count,
    sum(block.size_bytes)::BIGINT AS kept_bytes,
    count(DISTINCT block.step_id) AS steps_with,
    last_step.step_count,
    sum(block.size_bytes) / last_step.step_count AS bytes_per_step,
    count(DISTINCT block.step_id) = last_step.step_count AND last_step.step_count > 1 AS is_leak
FROM allocation.every_block AS block
JOIN last_step ON block.step_id < last_step.step_id
LEFT JOIN module.path USING (path_id)
LEFT JOIN trace.string AS op_name ON op_name.text_id = block.op_name_id
WHERE block.released_ns IS NULL
GROUP BY
    block.op_name_id,
    op_name.text,
    path.parent_module,
    path.module,
    block.component,
    block.role,
    block.device_id,
    last_step.step_count
ORDER BY is_leak DESC, kept_bytes DESC, op_name.text, path.parent_module, path.module, block.component, block.device_id
