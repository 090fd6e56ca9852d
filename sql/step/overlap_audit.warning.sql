-- The profiler's own Overlap Analysis reports another time than the kernels give.
SELECT
    profile,
    'warning' AS severity,
    format(
        'the Overlap Analysis of the profiler says {} {} ns, its kernels give {} ns{}',
        replace(kind::VARCHAR, '_', ' '),
        recorded_ns,
        kernels_ns,
        if(
            kind IN ('computing', 'communication') AND kernels_ns < recorded_ns,
            format(', {:.1f}% of it, so kernels are missing here', 100 * kernels_ns / recorded_ns),
            ''
        )
    ) AS sentence
FROM step.overlap_audit
WHERE NOT agrees
ORDER BY profile, kind
