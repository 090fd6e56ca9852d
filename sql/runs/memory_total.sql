-- One row is a run that is compared with the base: the memory of the framework at the peak, and the place in the program where
-- it changed most in the same direction.
--
-- run                    VARCHAR  the run that is compared with the base
-- sentence               VARCHAR  the finding in words
-- base_live_bytes        DOUBLE   bytes that the framework had allocated at the peak of the base
-- new_live_bytes         DOUBLE   bytes at the peak of the new run
-- live_difference_bytes  DOUBLE   new_live_bytes - base_live_bytes
-- site                   VARCHAR  the place, as in allocation.call_site; NULL where none changed, and when not recorded
-- site_difference_bytes  DOUBLE   its difference; NULL without a place
WITH total AS (
    SELECT
        run,
        sum(base_live_bytes) AS base_live_bytes,
        sum(new_live_bytes) AS new_live_bytes,
        sum(live_difference_bytes) AS live_difference_bytes
    FROM runs.memory_comparison
    WHERE role = 'framework'
    GROUP BY run
),
of_site AS (
    SELECT run, site, sum(live_difference_bytes) AS live_difference_bytes
    FROM runs.memory_comparison
    WHERE role = 'framework' AND site IS NOT NULL
    GROUP BY run, site
),
most AS (
    SELECT total.run, of_site.site, of_site.live_difference_bytes
    FROM total
    JOIN of_site USING (run)
    WHERE of_site.live_difference_bytes * sign(total.live_difference_bytes) > 0
    QUALIFY row_number() OVER (PARTITION BY total.run ORDER BY abs(of_site.live_difference_bytes) DESC, of_site.site) = 1
)
SELECT
    total.run,
    format(
        'memory at the peak {}{} ({} against {})',
        if(total.live_difference_bytes < 0, '-', '+'),
        shown_bytes(abs(total.live_difference_bytes)),
        shown_bytes(total.new_live_bytes),
        shown_bytes(total.base_live_bytes)
    ) || coalesce(
        format(
            ', most of it at {} ({}{})',
            most.site,
            if(most.live_difference_bytes < 0, '-', '+'),
            shown_bytes(abs(most.live_difference_bytes))
        ),
        ''
    ) AS sentence,
    total.base_live_bytes,
    total.new_live_bytes,
    total.live_difference_bytes,
    most.site,
    most.live_difference_bytes AS site_difference_bytes
FROM total
LEFT JOIN most USING (run)
ORDER BY total.run
