-- The profiler reports more time in the steps than all kernels take.
SELECT
    profile,
    'warning' AS severity,
    format(
        '{} says {} {:.6f} ms in {} step{}, the kernels give {:.6f} ms: kernels are missing',
        file,
        kind,
        recorded_ns / 1000000,
        step_count,
        if(step_count = 1, '', 's'),
        kernels_ns / 1000000
    ) AS sentence
FROM kernels.step_audit
WHERE NOT agrees
ORDER BY profile, kind
