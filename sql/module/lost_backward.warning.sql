-- Kernel time of backward work in no module, if it is 1 % or more of all kernel time.
SELECT
    profile,
    'warning' AS severity,
    format(
        '{:.1f}% of the kernel time is backward work in no module, since its forward ops are unknown: '
        || 'they ran before profiling began, or their sequence numbers, forward threads or links are lost',
        100 * kernel_duration_share
    ) AS sentence
FROM module.lost_backward
WHERE kernel_duration_share >= 0.01
ORDER BY profile
