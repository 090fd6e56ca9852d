-- One row is the finding that ranks which are no whole pipeline stage make the others wait.
--
-- @guard several ranks
--
-- @columns finding, slow_ranks as in across.slow_rank_finding
SELECT finding, slow_ranks
FROM across.slow_rank_finding
WHERE finding = 'slow rank'
