-- Steps that overlap on the device share its time.
SELECT
    profile,
    'note' AS severity,
    format(
        '{} {} on the device before an earlier one has ended there, by {} at most: each moment counts for one step, the one '
        || 'that ends first, with all that then runs',
        count(*),
        if(count(*) = 1, 'step begins', 'steps begin'),
        shown_time(max(overlap_ns))
    ) AS sentence
FROM step.overlap
GROUP BY profile
ORDER BY profile
