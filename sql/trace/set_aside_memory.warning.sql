-- Records of memory that no table holds.
SELECT
    profile,
    'warning' AS severity,
    said_of_set_aside(what, reason, threshold_ns, row_count) AS sentence
FROM trace.set_aside_memory
ORDER BY profile, what, reason
