-- One row is a rank of a group that shares experts: its grouped matmuls over all steps, beside the mean of the group.
--
-- expert_group    VARCHAR  the group, as in across.expert_group
-- is_recorded     BOOLEAN  whether the framework recorded the group
-- profile         VARCHAR  the folder, the identity of the rank
-- rank_id         INTEGER  the rank; NULL when the files name none
-- kernel_count    BIGINT   grouped matmuls
-- duration_ns     BIGINT   their time, ns
-- over_mean_ns    BIGINT   by how much that is more than the mean of the group, ns; below 0 where it is less
-- time_imbalance  DOUBLE   duration_ns / mean of the group; NULL when that is 0
-- row_count       BIGINT   rows that their experts share; NULL when not known for all
-- row_imbalance   DOUBLE   row_count / mean of the group; NULL when not known for all ranks of it, or 0
-- expert_count    BIGINT   experts of the rank; NULL when not known, and where grouped matmuls differ
WITH rank_load AS (
    SELECT
        profile,
        rank_id,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        if(count(row_count) = count(*), sum(row_count)::BIGINT, NULL) AS row_count,
        if(count(expert_count) = count(*) AND count(DISTINCT expert_count) = 1, min(expert_count), NULL) AS expert_count
    FROM experts.load
    GROUP BY profile, rank_id
)
SELECT
    expert_group.expert_group,
    expert_group.is_recorded,
    rank_load.profile,
    rank_load.rank_id,
    rank_load.kernel_count,
    rank_load.duration_ns,
    (rank_load.duration_ns - sum(rank_load.duration_ns) OVER shared // count(*) OVER shared)::BIGINT AS over_mean_ns,
    rank_load.duration_ns * count(*) OVER shared / nullif(sum(rank_load.duration_ns) OVER shared, 0) AS time_imbalance,
    rank_load.row_count,
    if(
        count(rank_load.row_count) OVER shared = count(*) OVER shared,
        rank_load.row_count * count(*) OVER shared / nullif(sum(rank_load.row_count) OVER shared, 0),
        NULL
    ) AS row_imbalance,
    rank_load.expert_count
FROM rank_load
JOIN across.expert_group USING (profile)
WINDOW shared AS (PARTITION BY expert_group.expert_group)
ORDER BY rank_load.duration_ns DESC, rank_load.rank_id, rank_load.profile
