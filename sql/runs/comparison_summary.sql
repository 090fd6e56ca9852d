-- One row is a figure of the whole run in the base and in the new run, per unit. Kernels of no unit have figures of their own,
-- per rank: a recording of more steps has no more of them.
--
-- run         VARCHAR  the run that is compared with the base
-- figure      VARCHAR  step time, computing, exposed communication, overlapped, exposed copying, idle, as in step.time; kernel
--                      time (the sum of its kernels, where overlapping kernels count fully), kernels or launches;
--                      kernel time outside, kernels outside: of no step (or call), over the recording of a rank
-- unit        VARCHAR  what it is measured in: ns, count or share
-- base        DOUBLE   the figure of the base per unit, outside per rank; NULL when not known
-- new         DOUBLE   the figure of the new run per unit; NULL when not known
-- difference  DOUBLE   new - base; NULL where one is not known
-- ratio       DOUBLE   new / base; NULL when that is 0
-- base_sd     DOUBLE   standard deviation over the samples of the base; NULL with fewer than two
-- new_sd      DOUBLE   standard deviation over the samples of the new run; NULL with fewer than two
-- p_value     DOUBLE   probability of a difference at least as large where nothing changed; NULL when not known
-- is_noise    BOOLEAN  whether the difference is no more than the figure varies anyway; NULL when not known
-- reason      VARCHAR  why a figure is not known, or not whether its difference is noise; NULL when both are
-- base_sum    BIGINT   the figure in all units of the base; NULL when not known
-- new_sum     BIGINT   the figure in all units of the new run; NULL when not known
WITH rank AS (
    SELECT rank.run, rank.side, rank.profile, run.sample_kind
    FROM runs.compared_rank AS rank
    JOIN runs.compared_run AS run ON run.run = rank.run AND run.side = rank.side
    WHERE rank.pair IS NOT NULL
),
compared_step AS (
    -- Of several calls in a step it is not known which part of its time is theirs.
    SELECT DISTINCT
        unit.run,
        unit.side,
        unit.profile,
        unit.step_id,
        if(rank.sample_kind = 'call', NULL, unit.sample_id) AS sample_id
    FROM runs.compared_unit AS unit
    JOIN rank ON rank.run = unit.run AND rank.side = unit.side AND rank.profile = unit.profile
),
of_step AS (
    SELECT
        rank.run,
        rank.side,
        rank.profile,
        compared_step.sample_id,
        unnest([
            {'place': 1, 'figure': 'step time', 'value': time.stage_ns + coalesce(time.bubble_ns, 0)},
            {'place': 2, 'figure': 'computing', 'value': time.computing_ns},
            {'place': 3, 'figure': 'exposed communication', 'value': time.communication_not_overlapped_ns},
            {'place': 4, 'figure': 'overlapped', 'value': time.overlapped_ns},
            {'place': 5, 'figure': 'exposed copying', 'value': time.copying_not_overlapped_ns},
            {'place': 6, 'figure': 'idle', 'value': time.free_ns}
        ]) AS part
    FROM step.time
    JOIN rank USING (profile)
    JOIN compared_step
        ON compared_step.run = rank.run AND compared_step.side = rank.side AND compared_step.profile = rank.profile
        AND compared_step.step_id IS NOT DISTINCT FROM time.step_id
    WHERE time.step_id IS NOT NULL OR time.stage_ns IS NOT NULL
),
of_unit AS (
    SELECT
        rank.run,
        rank.side,
        rank.profile,
        compared_unit.sample_id,
        if(unit_total.unit_id IS NULL AND getvariable('per') <> 'run', ' outside', '') AS outside,
        unnest([
            {'place': 7, 'figure': 'kernel time' || outside, 'value': unit_total.duration_ns},
            {'place': 8, 'figure': 'kernels' || outside, 'value': unit_total.kernel_count},
            {'place': 9, 'figure': 'launches' || outside, 'value': unit_total.launch_count}
        ]) AS part
    FROM compare.unit_total
    JOIN rank USING (profile)
    LEFT JOIN runs.compared_unit
        ON compared_unit.run = rank.run AND compared_unit.side = rank.side AND compared_unit.profile = rank.profile
        AND compared_unit.unit_id = unit_total.unit_id
    WHERE unit_total.unit_id IS NULL OR compared_unit.unit_id IS NOT NULL
),
part AS (
    FROM of_step
    UNION ALL
    SELECT
        run,
        side,
        profile,
        sample_id,
        {'place': part.place + if(outside = '', 0, 3), 'figure': part.figure, 'value': part.value} AS part
    FROM of_unit
    WHERE part.figure <> 'launches outside'
    UNION ALL
    -- Where all kernels are of no unit, units have none.
    SELECT run, side, profile, NULL, unnest([
        {'place': 7, 'figure': 'kernel time', 'value': 0},
        {'place': 8, 'figure': 'kernels', 'value': 0}
    ])
    FROM rank
    WHERE EXISTS (FROM compare.unit_total)
),
figure_of_sample AS (
    SELECT
        run,
        side,
        part.place,
        part.figure,
        sum(part.value)::BIGINT AS value,
        sum(part.value)::HUGEINT // min(sample.unit_count) AS sample
    FROM part
    LEFT JOIN runs.compared_sample AS sample USING (run, side, sample_id)
    GROUP BY run, side, part.place, part.figure, sample_id
),
figure AS (
    SELECT
        run,
        place,
        figure,
        -- A run without kernels has none, and no time of them; of its steps nothing is known.
        coalesce(sum(value) FILTER (side = 'base'), if(figure LIKE 'kernel%', 0, NULL))::BIGINT AS base_sum,
        coalesce(sum(value) FILTER (side = 'new'), if(figure LIKE 'kernel%', 0, NULL))::BIGINT AS new_sum,
        count(sample) > 0 AS has_samples,
        samples_of_sides(side, sample) AS samples
    FROM figure_of_sample
    GROUP BY run, place, figure
),
figure_per_unit AS (
    SELECT
        figure.* EXCLUDE (has_samples, samples),
        comparison.noise_reason,
        figure LIKE '% outside' AS is_outside,
        figure.base_sum / if(is_outside, comparison.base_rank_count, comparison.base_unit_count) AS base,
        figure.new_sum / if(is_outside, comparison.new_rank_count, comparison.new_unit_count) AS new,
        unnest(
            variation_of_sides(
                figure.samples,
                if(figure.has_samples AND figure.base_sum IS NOT NULL, comparison.base_sample_count, 0),
                if(figure.has_samples AND figure.new_sum IS NOT NULL, comparison.new_sample_count, 0)
            )
        )
    FROM figure
    JOIN runs.comparison USING (run)
)
SELECT
    run,
    figure,
    if(figure IN ('kernels', 'kernels outside', 'launches'), 'count', 'ns') AS unit,
    base,
    new,
    new - base AS difference,
    new / nullif(base, 0) AS ratio,
    base_sd_ns AS base_sd,
    new_sd_ns AS new_sd,
    p_value,
    is_noise,
    CASE
        WHEN base IS NULL OR new IS NULL THEN 'not recorded in both runs'
        WHEN is_outside THEN 'of no sample'
        WHEN p_value IS NULL THEN coalesce(noise_reason, 'known by step, not by call')
    END AS reason,
    base_sum,
    new_sum
FROM with_noise(figure_per_unit)
ORDER BY run, place
