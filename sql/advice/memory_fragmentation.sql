-- One row is a rank whose allocator has reserved far more memory of the device than was in use at any moment.
--
-- @title Reserved memory is far above what is in use
-- @evidence of {reserved_bytes} reserved, at most {held_bytes} are in use at any moment: {unused_bytes} ({unused_share}) serve
--     no block[; the device has {left_bytes} left]
-- @kind hint
-- @remedy (is_expandable) Keep shapes equal from step to step; expandable_segments:True is in force. If a larger peak before
--     the recording reserved it, such as the first step or an evaluation, it is no fragmentation.
-- @remedy Set expandable_segments:True in <<PYTORCH_NPU_ALLOC_CONF||PYTORCH_CUDA_ALLOC_CONF>>, so that blocks of changing
--     sizes share what is reserved; keep shapes equal from step to step. If a larger peak before the recording reserved it,
--     such as the first step or an evaluation, it is no fragmentation.
-- @query SELECT device_id, peak_allocated_bytes, peak_active_bytes, peak_reserved_bytes FROM across.memory_rank ORDER BY
--     peak_reserved_bytes DESC LIMIT 20
-- @counts none
-- @requires memory
-- @threshold least_unused_gib 1 GiB: How much that is at least
-- @threshold least_unused_share 0.2: Share of what is reserved that no block ever uses
--
-- @columns profile to rank_id as in advice.finding_of_rank
-- reserved_bytes  BIGINT   memory reserved at the peak, bytes
-- held_bytes      BIGINT   memory in use at its peak, bytes
-- unused_bytes    BIGINT   what is reserved and never in use, bytes
-- unused_share    DOUBLE   unused_bytes / reserved_bytes
-- left_bytes      BIGINT   what is left of the device, bytes; NULL when not known
-- is_expandable   BOOLEAN  whether expandable segments are in force, so that they are not advised
--
-- The allocator has reserved at least 20 % and 1 GiB more than was in use at any moment (active where recorded, else
-- allocated). The rule compares the two peaks, since memory that is unused now may be used at the next moment. The finding is a
-- hint: stalling allocator calls show whether it costs time. A larger peak before the recording also leaves reserved memory;
-- the evidence cannot tell the two apart.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_unused_share') AS least_unused_share,
        max(value) FILTER (name = 'least_unused_gib') * 1073741824 AS least_unused_bytes
    FROM advice.threshold
    WHERE rule = 'memory_fragmentation'
),
unused AS (
    SELECT
        *,
        coalesce(peak_active_bytes, peak_allocated_bytes) AS held_bytes,
        peak_reserved_bytes - held_bytes AS unused_bytes
    FROM across.memory_rank
),
largest AS (
    FROM unused
    WHERE unused_bytes > 0
    QUALIFY row_number() OVER (PARTITION BY profile ORDER BY unused_bytes DESC, device_id) = 1
)
SELECT
    profile,
    rank_id,
    peak_reserved_bytes AS reserved_bytes,
    held_bytes,
    unused_bytes,
    unused_bytes / peak_reserved_bytes AS unused_share,
    left_bytes,
    profile IN (FROM across.expandable_rank) AS is_expandable
FROM largest
CROSS JOIN threshold
WHERE unused_bytes >= least_unused_bytes AND unused_bytes >= least_unused_share * peak_reserved_bytes
