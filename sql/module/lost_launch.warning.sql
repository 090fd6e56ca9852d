-- Kernel time linked to no op, if it is 1 % or more of all kernel time.
SELECT
    profile,
    'warning' AS severity,
    format(
        '{:.1f}% of the kernel time ({} kernels, {}) links to no op, since the profile lost the links between ops and launches',
        100 * kernel_duration_share,
        kernel_count,
        shown_time(kernel_duration_ns)
    ) || coalesce(if(starts_with(what_to_do, ';'), '', ' ') || what_to_do, '') AS sentence
FROM module.lost_launch
WHERE kernel_duration_share >= 0.01
ORDER BY profile
