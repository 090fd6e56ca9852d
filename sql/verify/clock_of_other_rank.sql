-- One row is a rank whose device had other clocks than 1800 MHz and 800 MHz, as `clock` has it, in the columns of
-- AbnormalFrequencyRanks of msprof-analyze.
--
-- @beside AbnormalFrequencyRanks of freq_analysis by rank_id
--
-- @columns rank_id to aicore_frequency as in verify.clock_of_idle_rank
SELECT coalesce(rank_id, -1) AS rank_id, '[' || clocks || ']' AS aicore_frequency
FROM clock.device
WHERE clocks NOT IN ('1800', '800, 1800')
