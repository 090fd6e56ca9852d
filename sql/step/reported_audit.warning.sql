-- The profiler reports another time of the steps than their kernels give.
SELECT
    profile,
    'warning' AS severity,
    format(
        '{} says {} {:.6f} ms in {} step{}, the kernels give {:.6f} ms: {}',
        file,
        kind,
        recorded_ns / 1000000,
        step_count,
        if(step_count = 1, '', 's'),
        kernels_ns / 1000000,
        if(recorded_ns > kernels_ns, 'kernels are missing', 'the file is of another recording, or its steps lack kernels')
    ) AS sentence
FROM step.reported_audit
WHERE NOT agrees
ORDER BY profile, kind
