-- Kernel time of replayed graphs, which is in no module; and that in module calls that the recording holds in part.
SELECT
    profile,
    'warning' AS severity,
    format(
        '{:.1f}% of the kernel time was replayed from graphs that were captured before profiling began, so its '
        || 'ops and modules are unknown; start profiling before the engine captures its graphs, or give a recording of the '
        || 'capture (--capture)',
        100 * sum(kernel_duration_ns) FILTER (reason = 'graph replay') / sum(kernel_duration_ns)
    ) AS sentence
FROM module.coverage
GROUP BY profile
HAVING sum(kernel_duration_ns) FILTER (reason = 'graph replay') > 0
UNION ALL
SELECT
    profile,
    'warning',
    format(
        '{:.1f}% of the kernel time ({}) is outside modules, since module calls around it began before the recording or ended '
        || 'after it and are not in it',
        100 * sum(kernel_duration_ns) FILTER (location = 'outside modules' AND reason = 'cut at the profile edge')
            / sum(kernel_duration_ns),
        shown_time(sum(kernel_duration_ns) FILTER (location = 'outside modules' AND reason = 'cut at the profile edge'))
    )
FROM module.coverage
GROUP BY profile
HAVING sum(kernel_duration_ns) FILTER (location = 'outside modules' AND reason = 'cut at the profile edge') > 0
ORDER BY profile, sentence
