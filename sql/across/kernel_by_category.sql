-- One row is a category of kernels over all ranks, as in kernels.by_category, the heaviest first.
--
-- @columns category to placed_ns as in kernels.by_category
WITH of_rank AS (
    FROM kernels.by_category
),
summed AS (
    FROM sums_of_ranks(of_rank)
)
FROM rated_categories(summed)
ORDER BY total_ns DESC, category
