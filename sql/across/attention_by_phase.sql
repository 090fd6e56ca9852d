-- One row is a phase of passes of a server over all ranks and its kernels of attention, as in roofline.attention_by_phase, the
-- phase with most time of attention first.
--
-- @columns phase to reasons as in roofline.attention_by_phase
WITH of_rank AS (
    SELECT * EXCLUDE (phase), phase AS category
    FROM roofline.attention_by_phase
),
summed AS (
    FROM sums_of_ranks(of_rank)
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
