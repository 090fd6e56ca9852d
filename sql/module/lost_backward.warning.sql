-- Kernel time of a backward that no module can be given, a hundredth or more of all.
SELECT
    profile,
    'warning' AS severity,
    format(
        '{:.1f}% of the kernel time is backward work in no module, since the profile does not say its forward ops: '
        || 'they ran before profiling began, or their sequence numbers, forward threads or links are lost',
        100 * kernel_duration_share
    ) AS sentence
FROM module.lost_backward
WHERE kernel_duration_share >= 0.01
ORDER BY profile
