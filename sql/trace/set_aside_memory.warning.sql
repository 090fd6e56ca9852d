-- Records of memory that no table holds.
SELECT
    profile,
    'warning' AS severity,
    format('{} set aside because {}: {}', what, reason, row_count) AS sentence
FROM trace.set_aside_memory
ORDER BY profile, what, reason
