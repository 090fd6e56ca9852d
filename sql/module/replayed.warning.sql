-- How much of the time of replayed graphs is known, where a capture or annotations do not say the ops and modules of all
-- kernels.
WITH part AS (
    SELECT
        profile,
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
        END AS meaning,
        sum(kernel_duration_share) AS share,
        sum(kernel_duration_share) FILTER (module_by = 'launch') AS by_launch_share
    FROM module.replayed
    WHERE kernel_duration_share IS NOT NULL
    GROUP BY profile, known_by
)
SELECT
    profile,
    'note' AS severity,
    'of the kernel time of replayed graphs, '
    || string_agg(format('{:.1f}% {}', 100 * share, meaning), ', ' ORDER BY part_order)
    || coalesce(
        format(
            '; {:.1f}% has ops of the capture that lie in no module of it, so its module is the one around the launch',
            100 * sum(by_launch_share) FILTER (part_order = 1)
        ),
        ''
    ) AS sentence
FROM part
GROUP BY profile
HAVING max(part_order) > 2 OR sum(by_launch_share) FILTER (part_order = 1) > 0
ORDER BY profile
