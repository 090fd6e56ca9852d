-- One row is one of the ten longest gaps of a rank as `free-time` has them, in the columns of FreeAnalysis of msprof-analyze.
--
-- @beside FreeAnalysis of free_analysis by rank_id, start_time_us
--
-- rank_id        INTEGER        rank; -1 when the files name none
-- start_time_us  DECIMAL(20,3)  start, Unix us
-- end_time_us    DECIMAL(20,3)  end, Unix us
-- duration_us    DECIMAL(18,3)  end - start, us
SELECT
    coalesce(rank_id, -1) AS rank_id,
    ((start_ns // 1000)::DECIMAL(20, 3) + start_ns % 1000 * 0.001)::DECIMAL(20, 3) AS start_time_us,
    ((end_ns // 1000)::DECIMAL(20, 3) + end_ns % 1000 * 0.001)::DECIMAL(20, 3) AS end_time_us,
    ((end_ns - start_ns) / 1000)::DECIMAL(18, 3) AS duration_us
FROM free.gap
QUALIFY row_number() OVER (PARTITION BY profile ORDER BY end_ns - start_ns DESC, start_ns) <= 10
