-- Calls on the host that no table holds.
SELECT
    profile,
    'warning' AS severity,
    format('{} {} were set aside: {}', row_count, what, reason) AS sentence
FROM trace.set_aside_call
ORDER BY profile, what, reason
