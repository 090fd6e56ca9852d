-- Calls of modules that cross, so that which one work belongs to is a rule and not a fact.
SELECT
    profile,
    'warning' AS severity,
    format(
        'module calls cross: {} ({}) begin in another call on their thread and end after it; {} of kernel time, launched in '
        || 'both, is counted in the call that began last; ends that are late by rounding nest with --nesting-tolerance-ns',
        crossing_count,
        modules,
        shown_time(kernel_duration_ns)
    ) AS sentence
FROM module.crossing_time
ORDER BY profile
