-- The idle edge of a recording, which no step has.
SELECT
    profile,
    'note' AS severity,
    format(
        'the recording {} with {} in which the device is idle, {} of it: what the device did {} the recording is not known, so '
        || 'this time is no part of a step, and no finding of advise counts it',
        if(side = 'beginning', 'begins', 'ends'),
        shown_time(duration_ns),
        shown_share(share),
        if(side = 'beginning', 'before', 'after')
    ) AS sentence
FROM free.edge
ORDER BY profile
