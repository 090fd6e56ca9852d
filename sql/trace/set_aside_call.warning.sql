-- Calls on the host that no table holds.
SELECT
    profile,
    'warning' AS severity,
    said_of_set_aside(what, reason, threshold_ns, row_count) AS sentence
FROM trace.set_aside_call
ORDER BY profile, what, reason
