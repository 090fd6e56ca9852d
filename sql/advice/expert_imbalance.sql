-- One row is the rank with most work among those that share experts, and a module whose grouped matmuls take unevenly long.
--
-- @title Experts load the ranks unevenly
-- @evidence in {count} grouped matmuls the slowest of {rank_count} ranks takes {time_ns} more than the mean of {mean_ns}; in
--     all, this rank takes {time_imbalance:.2f} times the mean{is_even?; all have as many rows, so it is not the routing|}[;
--     the one with most rows has {row_imbalance:.2f} times the mean][; in the collectives after them ranks wait {wait_ns} on
--     average]
-- @kind upper bound
-- @remedy (is_even) Rows are even, so look at the device of the slowest rank: its clock (`prof-analysis clock`), what runs
--     beside.
-- @remedy Balance the experts: in training an auxiliary loss or bias of the router, a capacity of experts; in inference copies
--     of busy experts placed by load (EPLB). `prof-analysis experts` shows which experts and ranks have most rows.
-- @query SELECT cost_ns, mean_ns, max_ns, slowest_rank, module FROM across.expert_call ORDER BY cost_ns DESC LIMIT 20
-- @counts ranks
-- @guard several ranks
-- @requires compute
-- @threshold least_imbalance 1.2: Time of the slowest rank / mean, in grouped matmuls of a module
--
-- @columns profile to rank_id, module, count to win_ns as in advice.finding_of_rank
-- rank_count      BIGINT   ranks that share the experts
-- mean_ns         BIGINT   mean time of a rank in these grouped matmuls, ns
-- time_imbalance  DOUBLE   time of this rank in all grouped matmuls / mean of the ranks
-- is_even         BOOLEAN  whether all ranks have as many rows
-- row_imbalance   DOUBLE   rows of the rank with most / mean of the ranks; NULL when they are even or not known
-- wait_ns         BIGINT   mean time that ranks wait in the collectives after them, ns; NULL when not known
--
-- Grouped matmuls of ranks that share experts, by module. The win is the time of the slowest rank less the mean, summed over
-- all calls that the ranks have in common. It is an **upper bound**: it assumes that the others wait for the slowest rank after
-- each call; if a collective follows, the evidence has their wait. `least_imbalance` 1.2 is our choice. If all ranks have the
-- same number of rows, routing is not the cause.
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_imbalance') AS least_imbalance
    FROM advice.threshold
    WHERE rule = 'expert_imbalance'
),
in_step AS (
    FROM across.expert_call
    WHERE rank_count > 1
      AND (step_id IS NOT NULL OR NOT EXISTS (FROM across.expert_call WHERE step_id IS NOT NULL))
),
spread AS (
    SELECT
        expert_group,
        module,
        count(*) AS call_count,
        max(rank_count) AS rank_count,
        sum(mean_ns)::BIGINT AS mean_ns,
        sum(cost_ns)::BIGINT AS cost_ns,
        sum(wait_ns)::BIGINT AS wait_ns,
        sum(max_rows) / nullif(sum(mean_rows), 0) AS row_imbalance
    FROM in_step
    GROUP BY expert_group, module
),
busiest AS (
    SELECT expert_group, profile, rank_id, time_imbalance
    FROM across.expert_rank
    QUALIFY row_number() OVER (PARTITION BY expert_group ORDER BY duration_ns DESC, rank_id, profile) = 1
)
SELECT
    busiest.profile,
    busiest.rank_id,
    spread.module,
    call_count AS count,
    cost_ns AS time_ns,
    cost_ns AS win_ns,
    rank_count,
    mean_ns,
    time_imbalance,
    coalesce(spread.row_imbalance < 1.005, false) AS is_even,
    if(spread.row_imbalance < 1.005, NULL, spread.row_imbalance) AS row_imbalance,
    wait_ns
FROM spread
JOIN busiest USING (expert_group)
CROSS JOIN threshold
WHERE cost_ns > 0 AND mean_ns + cost_ns >= least_imbalance * mean_ns
