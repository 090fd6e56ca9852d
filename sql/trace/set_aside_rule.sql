-- One row is a rule that set rows of the input aside, with their number: all of trace.set_aside, trace.set_aside_call and
-- trace.set_aside_memory, of which each question reads what it needs. Without rows, nothing was set aside. docs/set-aside.md has
-- the rules.
--
-- what          VARCHAR  what the rows are
-- reason        VARCHAR  why they were set aside
-- threshold_ns  BIGINT   length of the recording that the reason compares with, ns; NULL for other reasons
-- row_count     BIGINT   how many
-- time_ns       BIGINT   their time, ns; NULL where their times cannot be true, or are not recorded
FROM trace.set_aside
UNION ALL
FROM trace.set_aside_call
UNION ALL
FROM trace.set_aside_memory
ORDER BY what, reason
