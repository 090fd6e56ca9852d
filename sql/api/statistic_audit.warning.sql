-- The profiler reports other host calls than the profile holds; the sentence names the call that differs most.
SELECT
    profile,
    'warning' AS severity,
    format(
        'api_statistic.csv and the trace disagree on {} of {} host calls, so calls are missing or recorded twice; {} differs '
        || 'most: {} of {:.6f} ms there, {} of {:.6f} ms here',
        count(*) FILTER (NOT agrees),
        count(*),
        arg_max(name, position),
        arg_max(recorded_count, position),
        arg_max(recorded_ns, position) / 1000000,
        arg_max(call_count, position),
        arg_max(calls_ns, position) / 1000000
    ) AS sentence
FROM (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY profile
            ORDER BY agrees DESC, abs(recorded_ns - calls_ns), abs(recorded_count - call_count), level DESC, name DESC
        ) AS position
    FROM api.statistic_audit
)
GROUP BY profile
HAVING NOT bool_and(agrees)
ORDER BY profile
