-- The profile has no host calls, only the sums that the profiler reported.
SELECT
    profile,
    'note' AS severity,
    'the profiler reported its host calls by name alone (api_statistic.csv), for all steps together: their times include the '
    || 'calls inside them, and own times, idle time of the device, median and p95 are not known' AS sentence
FROM api.duration
GROUP BY profile
HAVING bool_or(duration_ns IS NULL)
ORDER BY profile
