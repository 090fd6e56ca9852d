-- Calls on the host that no table holds.
SELECT
    profile,
    'warning' AS severity,
    format('{} set aside because {}: {}', what, reason, row_count) AS sentence
FROM trace.set_aside_call
ORDER BY profile, what, reason
