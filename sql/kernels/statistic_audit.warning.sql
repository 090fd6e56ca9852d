-- The profiler reports other kernels than the profile holds; the sentence names the type that differs most.
SELECT
    profile,
    'warning' AS severity,
    format(
        'op_statistic.csv counts {} kernels of {:.6f} ms, the profile has {} of {:.6f} ms of the same types, so '
        || 'kernels are missing or recorded twice; {} differs most: {} of {:.6f} ms there, {} of {:.6f} ms here',
        sum(recorded_count),
        sum(recorded_ns) / 1000000,
        sum(kernel_count),
        sum(kernels_ns) / 1000000,
        arg_max(coalesce(type, 'all together'), position),
        arg_max(recorded_count, position),
        arg_max(recorded_ns, position) / 1000000,
        arg_max(kernel_count, position),
        arg_max(kernels_ns, position) / 1000000
    ) AS sentence
FROM (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY profile
            ORDER BY agrees DESC, abs(recorded_ns - kernels_ns), abs(recorded_count - kernel_count), type DESC
        ) AS position
    FROM kernels.statistic_audit
)
GROUP BY profile
HAVING NOT bool_and(agrees)
ORDER BY profile
