-- One row is a rank whose memory at the peak is held by few call sites.
--
-- @title Few call sites hold most of the memory at the peak
-- @evidence Of {peak_bytes} at the peak, {held_bytes} ({held_share}) are held by {holders}
-- @kind hint
-- @remedy Ask of each whether it must be held then: release or recompute activations, release gradients and what optimizers
--     need for one step alone, take a smaller type, or shard parameters and optimizer states over more ranks.
-- @query SELECT live_bytes, end_bytes, block_count, site FROM allocation.site ORDER BY live_bytes DESC LIMIT 20
-- @counts none
-- @requires allocator
-- @threshold least_held_gib 1 GiB: How much the largest three hold at least
-- @threshold least_held_share 0.5: Share of the peak that the largest three hold
--
-- @columns profile to rank_id as in advice.finding_of_rank
-- peak_bytes  BIGINT   most that was allocated, bytes
-- held_bytes  BIGINT   what the largest three call sites held of it, bytes
-- held_share  DOUBLE   held_bytes / peak_bytes
-- holders     VARCHAR  these call sites, each with its bytes
--
-- A memory snapshot says which lines of the program allocated what is alive. At the peak the largest three call sites hold at
-- least half of what is allocated, and 1 GiB; what they hold may well be needed, so the finding is a hint. What was allocated
-- before the history counts where its frames are known. Tables: allocation.peak_site, allocation.site.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_held_share') AS least_held_share,
        max(value) FILTER (name = 'least_held_gib') * 1073741824 AS least_held_bytes
    FROM advice.threshold
    WHERE rule = 'largest_holders'
),
device AS (
    SELECT profile, device_id, sum(live_bytes)::BIGINT AS peak_bytes
    FROM allocation.peak_site
    GROUP BY profile, device_id
    QUALIFY row_number() OVER (PARTITION BY profile ORDER BY sum(live_bytes) DESC, device_id) = 1
),
site AS (
    SELECT profile, rank_id, device_id, site, sum(live_bytes)::BIGINT AS live_bytes
    FROM allocation.peak_site
    WHERE site IS NOT NULL
    GROUP BY profile, rank_id, device_id, site
    QUALIFY row_number() OVER (PARTITION BY profile, device_id ORDER BY sum(live_bytes) DESC, site) <= 3
),
held AS (
    SELECT
        site.profile,
        site.rank_id,
        device.peak_bytes,
        sum(site.live_bytes)::BIGINT AS held_bytes,
        string_agg(site.site || ' (' || shown_bytes(site.live_bytes) || ')', ', ' ORDER BY site.live_bytes DESC, site.site)
            AS holders
    FROM site
    JOIN device ON device.profile = site.profile AND device.device_id IS NOT DISTINCT FROM site.device_id
    GROUP BY site.profile, site.rank_id, device.peak_bytes
)
SELECT
    profile,
    rank_id,
    peak_bytes,
    held_bytes,
    held_bytes / peak_bytes AS held_share,
    holders
FROM held
CROSS JOIN threshold
WHERE held_bytes >= least_held_bytes AND held_bytes >= least_held_share * peak_bytes
