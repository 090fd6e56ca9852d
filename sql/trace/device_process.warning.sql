-- Devices that have no number in the trace.
SELECT
    profile,
    'warning' AS severity,
    format(
        'trace_view.json does not say the numbers of its {} devices: they are counted from 0 in the order of their processes',
        count(DISTINCT device_id)
    ) AS sentence
FROM trace.device_process
WHERE device_from = 'order'
GROUP BY profile
ORDER BY profile
