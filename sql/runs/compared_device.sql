-- One row is a run that is compared with the base, and on what devices the two ran.
--
-- run           VARCHAR  the run that is compared with the base
-- base_device   VARCHAR  devices of the base in words; NULL when not recorded
-- new_device    VARCHAR  devices of the new run in words; NULL when not recorded
-- is_different  BOOLEAN  whether the two are different devices; NULL when the two do not record the same about them
WITH side AS (
    SELECT
        rank.run,
        rank.side,
        string_agg(DISTINCT device.name, ', ' ORDER BY device.name) AS names,
        string_agg(
            DISTINCT format('{} cores at {:,} MHz', core_count, clock_mhz),
            ', '
            ORDER BY format('{} cores at {:,} MHz', core_count, clock_mhz)
        ) AS cores
    FROM runs.compared_rank AS rank
    JOIN compare.device USING (profile)
    WHERE rank.pair IS NOT NULL
    GROUP BY rank.run, rank.side
),
pair AS (
    SELECT
        run,
        max(names) FILTER (side = 'base') AS base_names,
        max(names) FILTER (side = 'new') AS new_names,
        max(cores) FILTER (side = 'base') AS base_cores,
        max(cores) FILTER (side = 'new') AS new_cores
    FROM side
    GROUP BY run
)
SELECT
    run,
    nullif(concat_ws(', ', base_names, base_cores), '') AS base_device,
    nullif(concat_ws(', ', new_names, new_cores), '') AS new_device,
    CASE
        WHEN base_names <> new_names OR base_cores <> new_cores THEN true
        WHEN base_names = new_names OR base_cores = new_cores THEN false
    END AS is_different
FROM pair
ORDER BY run
