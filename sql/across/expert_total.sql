-- One row is a group of ranks that share experts: how even their grouped matmuls are over all steps, and the cost.
--
-- expert_group    VARCHAR  the group, as in across.expert_group
-- is_recorded     BOOLEAN  whether the framework recorded the group
-- rank_count      BIGINT   ranks
-- duration_ns     BIGINT   time of the grouped matmuls of all ranks, ns
-- time_imbalance  DOUBLE   time of the rank with most / mean; NULL when that is 0
-- row_imbalance   DOUBLE   rows of the rank with most / mean; NULL when not known, or 0
-- paired_count    BIGINT   places at which each rank runs a grouped matmul: rows of across.expert_call
-- cost_ns         BIGINT   cost of their uneven spread for a rank, ns: for each, the time of the slowest rank less the mean;
--                          NULL where none are paired
-- wait_ns         BIGINT   mean time that ranks waited in the collectives after them, ns; NULL where not known for any
-- row_range       VARCHAR  whether the rows of grouped matmuls differ: all equal (a buffer of fixed size, or an even spread),
--                          or different; NULL when not known
-- reason          VARCHAR  why cost_ns is NULL; NULL when it is not
WITH calls AS (
    SELECT
        expert_group,
        count(*) AS paired_count,
        sum(cost_ns)::BIGINT AS cost_ns,
        sum(wait_ns)::BIGINT AS wait_ns
    FROM across.expert_call
    WHERE rank_count > 1
    GROUP BY expert_group
),
row_count AS (
    SELECT
        expert_group.expert_group,
        if(
            count(load.min_row_count) < count(*),
            NULL,
            if(min(load.min_row_count) = max(load.max_row_count), 'all equal', 'different')
        ) AS row_range
    FROM experts.load
    JOIN across.expert_group USING (profile)
    GROUP BY expert_group.expert_group
)
SELECT
    ranks.expert_group,
    bool_and(ranks.is_recorded) AS is_recorded,
    count(*) AS rank_count,
    sum(ranks.duration_ns)::BIGINT AS duration_ns,
    max(ranks.time_imbalance) AS time_imbalance,
    max(ranks.row_imbalance) AS row_imbalance,
    coalesce(max(calls.paired_count), 0) AS paired_count,
    max(calls.cost_ns) AS cost_ns,
    max(calls.wait_ns) AS wait_ns,
    max(row_count.row_range) AS row_range,
    CASE
        WHEN max(calls.cost_ns) IS NOT NULL THEN NULL
        WHEN count(*) = 1 THEN 'only one rank of the group is here'
        ELSE 'its ranks have different numbers of grouped matmuls in each step, so none pair'
    END AS reason
FROM across.expert_rank AS ranks
LEFT JOIN calls USING (expert_group)
LEFT JOIN row_count USING (expert_group)
GROUP BY ranks.expert_group
ORDER BY duration_ns DESC, ranks.expert_group
