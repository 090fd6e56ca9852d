-- One row is a rule that set rows of the input aside, with their number: all of trace.set_aside, trace.set_aside_call and
-- trace.set_aside_memory, of which each question reads what it needs. Without rows, nothing was set aside. The rules are in
-- docs/set-aside.md.
--
-- @columns what to time_ns as in trace.set_aside
FROM trace.set_aside
UNION ALL
FROM trace.set_aside_call
UNION ALL
FROM trace.set_aside_memory
ORDER BY what, reason
