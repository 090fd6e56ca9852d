-- One row is a rank with grouped matmuls and the group of ranks that share its experts: the recorded expert parallel group;
-- where none is recorded, the ranks of its pipeline stage, or where that is not recorded either, all ranks.
--
-- profile       VARCHAR  the folder, the identity of the rank
-- rank_id       INTEGER  the rank; NULL when the files name none
-- expert_group  VARCHAR  the group: numbers of its ranks, pipeline stage N, or all ranks
-- is_recorded   BOOLEAN  whether the framework recorded the group
SELECT
    load.profile,
    load.rank_id,
    coalesce(
        parallel_group.group_ranks,
        'pipeline stage ' || parallel_rank.pipeline_stage,
        'all ranks'
    ) AS expert_group,
    parallel_group.group_ranks IS NOT NULL AS is_recorded
FROM (SELECT DISTINCT profile, rank_id FROM experts.load) AS load
LEFT JOIN experts.parallel_group USING (profile)
LEFT JOIN communication.parallel_rank USING (profile)
ORDER BY load.rank_id, load.profile
