-- The profile has no kernels, only the sums that the profiler reported.
SELECT
    profile,
    'note' AS severity,
    'the profiler reported its kernels by type alone (op_statistic.csv), without communication, for all steps together: median '
    || 'and p95 are not known' AS sentence
FROM kernels.duration
GROUP BY profile
HAVING bool_or(duration_ns IS NULL)
ORDER BY profile
