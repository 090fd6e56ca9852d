-- One row is a unit of a rank that is compared: those of ranks without a partner, and the steps that the user leaves out, have
-- no row.
--
-- run        VARCHAR  the run that is compared with the base
-- side       VARCHAR  base or new
-- profile    VARCHAR  the folder, the identity of the rank
-- rank_id    INTEGER  the rank; NULL when the files name none
-- unit_id    BIGINT   a unit of compare.unit
-- kind       VARCHAR  what it is: step, call or run
-- step_id    BIGINT   the step; NULL outside steps and without steps
-- sample_id  BIGINT   units with the same number are one value of the samples that say what is noise: where both sides have
--                     several units, the same unit of all ranks; else, and where figures are per run, all units of a rank; NULL
--                     where a side has a single unit and fewer than three ranks
WITH chosen_unit AS (
    SELECT rank.run, rank.side, profile, rank.rank_id, unit.unit_id, unit.kind, unit.step_id
    FROM runs.compared_rank AS rank
    JOIN compare.unit USING (profile)
    WHERE rank.pair IS NOT NULL
        AND (unit.step_id IS NULL OR unit.step_id NOT IN (FROM (SELECT unnest(getvariable('skip_steps'))::BIGINT)))
),
size AS (
    SELECT run, side, count(DISTINCT unit_id) AS unit_count, count(DISTINCT profile) AS rank_count
    FROM chosen_unit
    GROUP BY run, side
),
sampling AS (
    SELECT
        run,
        getvariable('per') <> 'run' AND min(unit_count) > 1 AS is_over_units,
        -- Ranks of a job wait for each other: two of them say nothing of how much a run varies.
        min(rank_count) > 2 AS is_over_ranks
    FROM size
    GROUP BY run
)
SELECT
    chosen_unit.*,
    CASE
        WHEN is_over_units THEN unit_id
        WHEN is_over_ranks THEN dense_rank() OVER (PARTITION BY run, side ORDER BY rank_id, profile)
    END AS sample_id
FROM chosen_unit
JOIN sampling USING (run)
ORDER BY run, side, rank_id, profile, unit_id
