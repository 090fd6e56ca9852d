-- One row is a phase of passes of a server over all ranks and its kernels of attention, as in roofline.attention_by_phase, the
-- phase with most time of attention first.
--
-- @columns phase to reasons as in roofline.attention_by_phase
WITH summed AS (
    SELECT
        phase AS category,
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
    FROM roofline.attention_by_phase
    GROUP BY phase
),
unknown AS (
    SELECT phase AS category, string_agg(DISTINCT reasons, '; ' ORDER BY reasons) AS reasons
    FROM roofline.attention_by_phase
    GROUP BY phase
)
SELECT rated.category AS phase, rated.* EXCLUDE (category), unknown.reasons
FROM rated_categories(summed) AS rated
JOIN unknown USING (category)
ORDER BY rated.total_ns DESC, phase
