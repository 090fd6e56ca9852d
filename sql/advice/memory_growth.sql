-- One row is an op in a module that leaves blocks of device memory in each step.
--
-- @guard allocation.kept
-- @title Device memory grows with each step
-- @evidence {count} blocks that it allocates in {step_count} steps are never released: {kept_bytes}, {step_bytes} in each
--     step[; what is left of the device, {left_bytes}, lasts for {steps_left} more steps]
-- @kind hint
-- @remedy Look for what keeps these tensors: a list that outputs or losses are appended to (append loss.item() or
--     loss.detach()), a cache without a limit, or a graph that is kept (retain_graph).
-- @query SELECT kept_bytes, bytes_per_step, block_count, op_name, module FROM allocation.kept WHERE is_leak ORDER BY kept_bytes
--     DESC LIMIT 20
-- @counts none
-- @requires memory
-- @threshold least_mib_per_step 1 MiB: What an op leaves in each step at least
--
-- @columns profile to rank_id, module to op, count as in advice.finding_of_rank
-- step_count  BIGINT  steps in which it allocates them
-- kept_bytes  BIGINT  memory of these blocks, bytes
-- step_bytes  DOUBLE  the same in a step, bytes
-- left_bytes  BIGINT  what is left of the device, bytes; NULL when not known
-- steps_left  BIGINT  steps for which that lasts; NULL when not known
--
-- An op in a module leaves blocks in each step before the last one, of at least two (`is_leak` of allocation.kept), and at
-- least 1 MiB per step. If the memory of the device is known, the evidence says for how many more steps it lasts. The finding
-- is a hint.
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_mib_per_step') * 1048576 AS least_bytes
    FROM advice.threshold
    WHERE rule = 'memory_growth'
),
leaking AS (
    SELECT
        profile,
        rank_id,
        nullif(concat_ws('/', nullif(parent_module, ''), module), '') AS path,
        op_name,
        sum(block_count)::BIGINT AS block_count,
        sum(kept_bytes)::BIGINT AS kept_bytes,
        max(step_count) AS step_count,
        sum(bytes_per_step) AS bytes_per_step
    FROM allocation.kept
    WHERE is_leak
    GROUP BY ALL
),
left_over AS (
    SELECT profile, min(left_bytes) AS left_bytes
    FROM across.memory_rank
    GROUP BY profile
)
SELECT
    leaking.profile,
    leaking.rank_id,
    leaking.path AS module,
    leaking.op_name AS op,
    leaking.block_count AS count,
    leaking.step_count,
    leaking.kept_bytes,
    leaking.bytes_per_step AS step_bytes,
    if(left_over.left_bytes >= 0, left_over.left_bytes, NULL) AS left_bytes,
    if(left_over.left_bytes >= 0, floor(left_over.left_bytes / leaking.bytes_per_step), NULL)::BIGINT AS steps_left
FROM leaking
LEFT JOIN left_over USING (profile)
CROSS JOIN threshold
WHERE leaking.bytes_per_step >= threshold.least_bytes
