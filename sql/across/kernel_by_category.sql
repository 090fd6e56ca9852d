-- One row is a category of kernels over all ranks, as in kernels.by_category, the heaviest first.
--
-- @columns category to placed_ns as in kernels.by_category
WITH summed AS (
    SELECT
        category,
        sum(total_ns)::BIGINT AS total_ns,
        sum(kernel_count)::BIGINT AS kernel_count,
        -- Of ranks on different devices nothing is said.
        CASE WHEN count(DISTINCT memory_gb_s) = 1 AND count(memory_gb_s) = count(*) THEN min(memory_gb_s) END AS memory_gb_s,
        TRY_CAST(sum(flops) AS BIGINT) AS flops,
        sum(flops_ns)::BIGINT AS flops_ns,
        TRY_CAST(sum(known_flops) AS BIGINT) AS known_flops,
        TRY_CAST(sum(possible_flops) AS BIGINT) AS possible_flops,
        TRY_CAST(sum(bytes) AS BIGINT) AS bytes,
        sum(bytes_ns)::BIGINT AS bytes_ns,
        TRY_CAST(sum(placed_flops) AS BIGINT) AS placed_flops,
        TRY_CAST(sum(possible_placed_flops) AS BIGINT) AS possible_placed_flops,
        TRY_CAST(sum(placed_bytes) AS BIGINT) AS placed_bytes,
        sum(placed_ns)::BIGINT AS placed_ns
    FROM kernels.by_category
    GROUP BY category
)
FROM rated_categories(summed)
ORDER BY total_ns DESC, category
