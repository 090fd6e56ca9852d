-- One row is a rank whose device had a clock of 800 MHz and one of 1800 MHz, as `clock` has it, in the columns of
-- FreeFrequencyRanks of msprof-analyze, which takes the lower one for idling.
--
-- @beside FreeFrequencyRanks of freq_analysis by rank_id
--
-- rank_id           INTEGER  rank; -1 when the files name none
-- aicore_frequency  VARCHAR  the clocks, MHz
SELECT coalesce(rank_id, -1) AS rank_id, '[' || clocks || ']' AS aicore_frequency
FROM clock.device
WHERE clocks = '800, 1800'
