-- One row is a noise sample of a side of a comparison. A value of it is what its units sum up to, divided by unit_count.
--
-- run         VARCHAR  the run that is compared with the base
-- side        VARCHAR  base or new
-- sample_id   BIGINT   the sample, as in runs.compared_unit
-- unit_count  BIGINT   units in it: of a step the ranks that have it, of a rank its steps or calls; where figures are per run,
--                      1
SELECT run, side, sample_id, if(getvariable('per') = 'run', count(DISTINCT profile), count(*)) AS unit_count
FROM runs.compared_unit
WHERE sample_id IS NOT NULL
GROUP BY run, side, sample_id
