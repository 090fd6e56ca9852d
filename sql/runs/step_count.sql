-- One row is a run that is compared with the base: the steps of both, and how many of them are outliers.
--
-- run            VARCHAR  the run that is compared with the base
-- base           BIGINT   steps of the base
-- new            BIGINT   steps of the new run
-- base_outliers  BIGINT   outliers among those of the base
-- new_outliers   BIGINT   outliers among those of the new run
SELECT
    run,
    count(base_step_id) AS base,
    count(new_step_id) AS new,
    count(base_outlier) AS base_outliers,
    count(new_outlier) AS new_outliers
FROM runs.comparison
LEFT JOIN runs.step_comparison USING (run)
GROUP BY run
ORDER BY run
