-- Rows of the input that no table holds.
SELECT
    profile,
    'warning' AS severity,
    format('{} {} were set aside: {}', row_count, what, reason) AS sentence
FROM trace.set_aside
ORDER BY profile, what, reason
