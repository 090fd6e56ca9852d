-- One row is a grouped matmul that the ranks of a group run at the same place of a step: how unevenly rows and time are spread
-- over them, and its cost. Ranks pair by position if each has the same number of grouped matmuls in the step.
--
-- expert_group    VARCHAR  the group, as in across.expert_group
-- step_id         BIGINT   step; NULL when of no step, and without steps
-- position        BIGINT   place in the step, from 1, as in experts.call
-- module          VARCHAR  path of the module; NULL outside modules, and where ranks differ
-- rank_count      BIGINT   ranks that have it
-- mean_ns         BIGINT   mean time of a rank, ns
-- max_ns          BIGINT   time of the slowest rank, ns
-- slowest_rank    VARCHAR  that rank; its folder where the files name none; of equal ones the first
-- cost_ns         BIGINT   max - mean, ns: an even spread could save this if the others wait for the slowest
-- time_imbalance  DOUBLE   max_ns / mean_ns; NULL when that is 0
-- mean_rows       DOUBLE   mean rows of a rank; NULL when not known for each
-- max_rows        BIGINT   rows of the rank with most; NULL when not known for each
-- row_imbalance   DOUBLE   max_rows / mean_rows; NULL when not known, or 0
-- wait_ns         BIGINT   mean time for which ranks then waited in the next collective: beyond that of the rank that spent
--                          least in it, ns; NULL where ranks have no common one
WITH counted_step AS (
    SELECT profile, step_id, count(*) AS call_count
    FROM experts.call
    GROUP BY profile, step_id
),
ranked AS (
    SELECT
        expert_group.expert_group,
        call.*,
        coalesce(call.rank_id::VARCHAR, call.profile) AS rank,
        min(counted_step.call_count) OVER in_group = max(counted_step.call_count) OVER in_group AS is_paired,
        (paired_call.known_group, paired_call.paired_step, paired_call.number) AS next_call,
        paired_call.rank_count > 1 AS is_next_common,
        call.next_elapse_ns - min(call.next_elapse_ns) OVER together AS waited_ns,
        count(*) OVER together AS meeting_count
    FROM experts.call
    JOIN across.expert_group USING (profile)
    JOIN counted_step ON counted_step.profile = call.profile AND counted_step.step_id IS NOT DISTINCT FROM call.step_id
    LEFT JOIN across.paired_call ON paired_call.profile = call.profile AND paired_call.kernel_id = call.next_id
    WINDOW
        in_group AS (PARTITION BY expert_group.expert_group, call.step_id),
        together AS (
            PARTITION BY
                expert_group.expert_group,
                call.step_id,
                call.position,
                paired_call.known_group,
                paired_call.paired_step,
                paired_call.number
        )
)
SELECT
    expert_group,
    step_id,
    position,
    if(count(DISTINCT module) = 1 AND count(module) = count(*), min(module), NULL) AS module,
    count(*) AS rank_count,
    (sum(duration_ns) // count(*))::BIGINT AS mean_ns,
    max(duration_ns) AS max_ns,
    arg_min(rank, (-duration_ns, coalesce(rank_id, 0), profile)) AS slowest_rank,
    (max(duration_ns) - sum(duration_ns) // count(*))::BIGINT AS cost_ns,
    max(duration_ns) * count(*) / nullif(sum(duration_ns), 0) AS time_imbalance,
    if(count(row_count) = count(*), sum(row_count) / count(*), NULL) AS mean_rows,
    if(count(row_count) = count(*), max(row_count), NULL) AS max_rows,
    if(count(row_count) = count(*), max(row_count) * count(*) / nullif(sum(row_count), 0), NULL) AS row_imbalance,
    if(
        bool_and(is_next_common AND meeting_count > 1) AND count(DISTINCT next_call) = 1,
        (sum(waited_ns) // count(*))::BIGINT,
        NULL
    ) AS wait_ns
FROM ranked
WHERE is_paired
GROUP BY expert_group, step_id, position
ORDER BY cost_ns DESC, expert_group, step_id, position
