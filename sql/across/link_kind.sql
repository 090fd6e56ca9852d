-- One row is a kind of link between ranks with its transfers over all ranks, the most bytes first.
--
-- link              VARCHAR  the link, such as HCCS; ON_CHIP within a device; NULL when not recorded
-- is_within_device  BOOLEAN  whether the data stays within the device
-- pair_count        BIGINT   pairs of ranks; within a device, ranks
-- size_bytes        BIGINT   bytes moved
-- duration_ns       BIGINT   time of the transfers, ns; overlapping transfers count fully
-- min_gb_s          DOUBLE   bandwidth of the slowest pair, GB/s, of those judged; where none is, of all pairs, also those that
--                            move little; NULL when none took time
-- median_gb_s       DOUBLE   bandwidth that half of these pairs do not exceed, GB/s; NULL when none took time
-- max_gb_s          DOUBLE   bandwidth of the fastest of them, GB/s; NULL when none took time
-- one_sided_count   BIGINT   pairs whose other rank recorded nothing to the first one, though it has a profile here; and pairs
--                            whose other rank has none
-- judged_count      BIGINT   pairs with transfers of a kind that at least three pairs have
-- slow_count        BIGINT   those of them that are slow
-- slow_lost_ns      BIGINT   time that the slow ones lose, ns; NULL without any
-- least_share       DOUBLE   the least part of the usual bandwidth that a pair has; NULL when none was judged
WITH link AS (
    SELECT *, is_slow IS NOT NULL OR count(is_slow) OVER (PARTITION BY link, is_within_device) = 0 AS is_measured
    FROM across.link
)
SELECT
    link,
    is_within_device,
    count(*) AS pair_count,
    sum(size_bytes)::BIGINT AS size_bytes,
    sum(duration_ns)::BIGINT AS duration_ns,
    min(bandwidth_gb_s) FILTER (is_measured) AS min_gb_s,
    quantile_disc(bandwidth_gb_s, 0.5) FILTER (is_measured) AS median_gb_s,
    max(bandwidth_gb_s) FILTER (is_measured) AS max_gb_s,
    count(*) FILTER (NOT is_within_device AND NOT coalesce(is_opposite_recorded, false)) AS one_sided_count,
    count(is_slow) AS judged_count,
    count(*) FILTER (is_slow) AS slow_count,
    sum(lost_ns) FILTER (is_slow)::BIGINT AS slow_lost_ns,
    min(usual_share) AS least_share
FROM link
GROUP BY link, is_within_device
ORDER BY size_bytes DESC, link, is_within_device
