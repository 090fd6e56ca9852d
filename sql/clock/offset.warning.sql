-- Clocks of host and device that cannot both be right.
SELECT
    profile,
    'warning' AS severity,
    format(
        'the clock of the device is {} {} against that of the host: ',
        shown_time(abs(offset_ns)),
        if(offset_ns < 0, 'early', 'late')
    ) || if(
        offset_ns < 0,
        format('{} of {} kernels begin before their launch by the recorded times', early_count, linked_count),
        format(
            'no kernel begins sooner after its launch, and {} of {} calls that wait for the device return before it is done by '
            || 'the recorded times',
            late_count,
            waited_count
        )
    ) || '. Where times of host and device are compared, those of the device are moved by so much; they may be off by more, '
    || 'or drift' AS sentence
FROM clock.offset
WHERE offset_ns <> 0
ORDER BY profile
