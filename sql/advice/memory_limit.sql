-- One row is a rank whose device was almost full at the peak, with the op in a module that held most of it.
--
-- @title Device memory is almost full at the peak
-- @evidence {used_bytes} of {all_bytes} are in use at most, {free_bytes} ({free_share}) are left[; of what was allocated during
--     the recording, {held_by} in {held_in} holds most: {held_bytes}][; {before_bytes} were allocated before it]
-- @kind hint
-- @remedy Free or recompute first what holds most; then take smaller micro-batches, or shard parameters and optimizer states
--     over more ranks. Close to the limit the allocator returns memory to the device and asks for it anew, which stops the host
--     and the device.
-- @query SELECT live_bytes, share, block_count, op_name, module FROM allocation.peak WHERE measure = 'allocated' ORDER BY
--     live_bytes DESC LIMIT 20
-- @counts none
-- @requires memory
-- @threshold memory_gib 0 GiB: Memory of a device for profiles that do not record it; 0: not known, so the rule is silent there
-- @threshold most_left_share 0.1: Share of the device memory that may be left at the peak
--
-- @columns profile to rank_id, module to op, count as in advice.finding_of_rank
-- used_bytes    BIGINT   memory in use at the peak, bytes
-- all_bytes     DOUBLE   memory of the device, bytes
-- free_bytes    DOUBLE   what of it is left, bytes
-- free_share    DOUBLE   free_bytes / all_bytes
-- held_by       VARCHAR  the op that holds most at the peak
-- held_in       VARCHAR  its module
-- held_bytes    BIGINT   what it holds, bytes; NULL when no block is recorded
-- before_bytes  BIGINT   what was allocated before the recording, bytes; NULL when nothing was
--
-- At the peak less than 10 % of the memory of the device was left (`most_left_share`), by the widest record that the profile
-- has: of the device, the process, or the allocators. The finding names the op and the module that held most of what was
-- allocated during the recording. The finding is a hint. Ascend profiles do not record how much memory the device has: give it
-- with `--threshold memory_limit.memory_gib=64`, or the rule is silent there. Tables: across.memory_rank, allocation.peak.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'most_left_share') AS most_left_share,
        max(value) FILTER (name = 'memory_gib') AS memory_gib
    FROM advice.threshold
    WHERE rule = 'memory_limit'
),
full_device AS (
    SELECT
        memory_rank.*,
        coalesce(memory_rank.memory_bytes, nullif(threshold.memory_gib, 0) * 1073741824) AS all_bytes,
        all_bytes - memory_rank.used_bytes AS free_bytes
    FROM across.memory_rank
    CROSS JOIN threshold
    WHERE free_bytes < threshold.most_left_share * all_bytes
),
-- A rank with several devices is as full as the fullest.
fullest AS (
    FROM full_device
    QUALIFY row_number() OVER (PARTITION BY profile ORDER BY free_bytes / all_bytes, device_id) = 1
),
held_memory AS (
    SELECT peak.*, concat_ws('/', nullif(peak.parent_module, ''), peak.module) AS path
    FROM allocation.peak
    WHERE peak.role = 'framework' AND peak.measure = 'allocated' AND peak.part = 'blocks'
),
largest AS (
    SELECT held_memory.*
    FROM held_memory
    JOIN fullest ON fullest.profile = held_memory.profile AND fullest.device_id IS NOT DISTINCT FROM held_memory.device_id
    QUALIFY row_number() OVER (
        PARTITION BY held_memory.profile
        ORDER BY held_memory.live_bytes DESC, held_memory.parent_module, held_memory.module, held_memory.op_name
    ) = 1
)
SELECT
    fullest.profile,
    fullest.rank_id,
    nullif(largest.path, '') AS module,
    largest.op_name AS op,
    largest.block_count AS count,
    fullest.used_bytes,
    fullest.all_bytes,
    fullest.free_bytes,
    fullest.free_bytes / fullest.all_bytes AS free_share,
    coalesce(largest.op_name, 'an unknown op') AS held_by,
    coalesce(nullif(largest.path, ''), 'no module') AS held_in,
    largest.live_bytes AS held_bytes,
    if(fullest.before_bytes > 0, fullest.before_bytes, NULL) AS before_bytes
FROM fullest
LEFT JOIN largest USING (profile)
