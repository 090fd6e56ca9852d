-- Rows of the input that no table holds.
SELECT
    profile,
    'warning' AS severity,
    said_of_set_aside(what, reason, threshold_ns, row_count) AS sentence
FROM trace.set_aside
ORDER BY profile, what, reason
