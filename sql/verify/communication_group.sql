-- One row is a group in which ranks communicated, as `communication-stats` has it, in the columns of HcclGroupNameMap of
-- msprof-analyze.
--
-- @beside HcclGroupNameMap of hccl_sum by group_name
--
-- group_name  VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- ranks       VARCHAR  ranks here that have operators of it, joined by ';'
SELECT group_name, array_to_string(list_sort(list(DISTINCT coalesce(rank_id, -1))), ';') AS ranks
FROM communication.duration
WHERE origin = 'kernels'
GROUP BY group_name
