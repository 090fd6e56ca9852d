-- Module calls that may have lain in others, which the recording does not hold.
SELECT
    profile,
    'warning' AS severity,
    format(
        'the recording begins or ends in the middle of a module call, by its signs: the paths of {:,} outermost module calls, '
        || 'with up to {} of kernel time ({:,} kernels), may lack the modules around them; record whole steps',
        call_count, shown_time(kernel_duration_ns), kernel_count
    ) AS sentence
FROM module.doubted_time
ORDER BY profile
