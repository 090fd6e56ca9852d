-- How much of the time of replayed graphs is known, where a capture or annotations do not say it of all kernels.
WITH part AS (
    SELECT
        profile,
        sum(kernel_duration_share) AS kernel_duration_share,
        CASE known_by
            WHEN 'capture' THEN 1
            WHEN 'annotation' THEN 2
            WHEN 'launch' THEN 3
            ELSE 4
        END AS part_order,
        CASE known_by
            WHEN 'capture' THEN 'has the ops of the capture'
            WHEN 'annotation' THEN 'has the modules of annotations'
            WHEN 'launch' THEN 'is known by the launch of the graph alone'
            ELSE 'is not known'
        END AS meaning
    FROM module.replayed
    GROUP BY profile, known_by
)
SELECT
    profile,
    'note' AS severity,
    'of the kernel time of replayed graphs, '
    || string_agg(format('{:.1f}% {}', 100 * kernel_duration_share, meaning), ', ' ORDER BY part_order) AS sentence
FROM part
GROUP BY profile
HAVING count(kernel_duration_share) = count(*) AND max(part_order) > 2
ORDER BY profile
