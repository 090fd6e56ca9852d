-- One row is a rank of a group that shares experts as `experts` has it, in the columns of EPTokensSummary of msprof-analyze.
--
-- @beside EPTokensSummary of ep_load_balance by rank
--
-- rank                  INTEGER  rank; -1 when the files name none
-- input_shapes_summary  BIGINT   rows that its experts share, of all grouped matmuls
SELECT coalesce(rank_id, -1) AS rank, row_count AS input_shapes_summary
FROM across.expert_rank
WHERE row_count IS NOT NULL
