-- One row is a rank whose allocator holds much free memory between blocks when the recording ends.
--
-- @guard allocation.segment
-- @title Free memory lies between blocks, where it cannot be given back
-- @evidence Of {reserved_bytes} reserved at the end, {split_bytes} ({split_share}) are free beside blocks, in {count|a
--     part|parts} of segments in use (inactive split); the largest has {largest_bytes}
-- @kind hint
-- @remedy (is_expandable) Keep shapes equal from step to step, and free what lives long and is small before what is large is
--     allocated; expandable_segments:True is in force.
-- @remedy Set expandable_segments:True in <<PYTORCH_NPU_ALLOC_CONF||PYTORCH_CUDA_ALLOC_CONF>>, keep shapes equal from step to
--     step, or allocate what lives long before what lives short; empty_cache() does not give this memory back.
-- @query SELECT split_bytes, size_bytes, block_count, site FROM allocation.segment ORDER BY split_bytes DESC LIMIT 20
-- @counts none
-- @requires allocator
-- @threshold least_split_gib 1 GiB: How much that is at least
-- @threshold least_split_share 0.1: Share of what is reserved that is free beside blocks
--
-- @columns profile to rank_id, count as in advice.finding_of_rank
-- reserved_bytes  BIGINT   memory that the allocator holds at the end, bytes
-- split_bytes     BIGINT   what of it is free beside blocks, bytes
-- split_share     DOUBLE   split_bytes / reserved_bytes
-- largest_bytes   BIGINT   the largest of these parts, bytes
-- is_expandable   BOOLEAN  whether expandable segments are in force, so that they are not advised
--
-- A memory snapshot says what lies in each segment. At least 10 % and 1 GiB of what is reserved lies beside blocks that are in
-- use: a block that is larger than each of these parts needs new memory of the device, though enough is free. The finding is a
-- hint, and of the end of the history alone: what is free then may serve blocks at another moment. Table: allocation.segment.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_split_share') AS least_split_share,
        max(value) FILTER (name = 'least_split_gib') * 1073741824 AS least_split_bytes
    FROM advice.threshold
    WHERE rule = 'inactive_split'
),
device AS (
    SELECT
        profile,
        rank_id,
        device_id,
        sum(size_bytes)::BIGINT AS size_bytes,
        sum(split_bytes)::BIGINT AS split_bytes,
        (sum(free_count) FILTER (split_bytes > 0))::BIGINT AS split_count,
        max(largest_free_bytes) FILTER (split_bytes > 0) AS largest_bytes
    FROM allocation.segment
    GROUP BY profile, rank_id, device_id
),
most_split AS (
    FROM device
    QUALIFY row_number() OVER (PARTITION BY profile ORDER BY split_bytes DESC, device_id) = 1
)
SELECT
    profile,
    rank_id,
    split_count AS count,
    size_bytes AS reserved_bytes,
    split_bytes,
    split_bytes / size_bytes AS split_share,
    largest_bytes,
    profile IN (FROM across.expandable_rank) AS is_expandable
FROM most_split
CROSS JOIN threshold
WHERE split_bytes >= least_split_bytes AND split_bytes >= least_split_share * size_bytes
