-- One row is an op of a rank that could not allocate memory of the device.
--
-- @guard allocation.out_of_memory
-- @title An allocation of device memory failed
-- @evidence {count|one attempt|attempts} to allocate memory failed[{count?,|, the largest} of {size_bytes}][; {allocated_bytes}
--     were allocated][, {reserved_bytes} reserved][, of {memory_bytes} of the device][; most of it was held by {holders}]
-- @kind hint
-- @remedy (is_expandable) Look with `prof-analysis memory` at what was alive then. Take smaller micro-batches, recompute
--     activations, or shard optimizer states.
-- @remedy Look with `prof-analysis memory` at what was alive then. If much more is reserved than allocated, set
--     expandable_segments:True in <<PYTORCH_NPU_ALLOC_CONF||PYTORCH_CUDA_ALLOC_CONF>>; else take smaller micro-batches,
--     recompute activations, or shard optimizer states.
-- @query SELECT size_bytes, allocated_bytes, reserved_bytes, op_name FROM allocation.out_of_memory ORDER BY size_bytes DESC
--     LIMIT 20
-- @counts none
-- @requires memory
--
-- @columns profile to rank_id, op, count as in advice.finding_of_rank
-- size_bytes       BIGINT   size that the largest asked for, bytes; NULL when not known
-- allocated_bytes  BIGINT   what was allocated then, bytes; NULL when not known
-- reserved_bytes   BIGINT   what was reserved then, bytes; NULL when not known
-- memory_bytes     BIGINT   memory of the device, bytes; NULL when not known
-- holders          VARCHAR  the call sites that held most when the last attempt failed, with their bytes; NULL when not known
-- is_expandable    BOOLEAN  whether expandable segments are in force, so that they are not advised
--
-- An op failed to allocate memory of the device while the profile was recorded (GPU traces record it, `[OutOfMemory]`, and
-- memory snapshots, which also say which call sites filled the device). No time can be given, so the finding is a hint. The
-- remedy depends on the two totals in the evidence. Much more reserved than allocated memory means fragmentation
-- ([memory-fragmentation](#memory-fragmentation)); otherwise the step needs more than there is. Table:
-- allocation.out_of_memory.
WITH failed AS (
    SELECT
        profile,
        rank_id,
        op_name,
        count(*) AS failed_count,
        max(size_bytes) AS size_bytes,
        arg_max(allocated_bytes, (coalesce(size_bytes, -1), -time_ns)) AS allocated_bytes,
        arg_max(reserved_bytes, (coalesce(size_bytes, -1), -time_ns)) AS reserved_bytes,
        max(memory_bytes) AS memory_bytes
    FROM allocation.out_of_memory
    GROUP BY profile, rank_id, op_name
),
holder AS (
    FROM allocation.failure_part
    WHERE site IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY profile ORDER BY live_bytes DESC, site, op_name, device_id) <= 3
),
holders_of_rank AS (
    SELECT
        profile,
        string_agg(site || ' (' || shown_bytes(live_bytes) || ')', ', ' ORDER BY live_bytes DESC, site, op_name, device_id)
            AS holders
    FROM holder
    GROUP BY profile
)
SELECT
    failed.profile,
    failed.rank_id,
    failed.op_name AS op,
    failed.failed_count AS count,
    failed.size_bytes,
    failed.allocated_bytes,
    failed.reserved_bytes,
    failed.memory_bytes,
    holders_of_rank.holders,
    failed.profile IN (FROM across.expandable_rank) AS is_expandable
FROM failed
LEFT JOIN holders_of_rank USING (profile)
