-- One row is a step of the base and the step of the new run in the same place, as means over the ranks that have them, in the
-- order of steps. A step is an outlier where it takes clearly longer or shorter than the median of its run: by more than three
-- deviations, as the median of all deviations estimates them, and by more than a tenth; with fewer than 3 steps none is.
--
-- run                VARCHAR  the run that is compared with the base
-- place              BIGINT   place of the step in its run, counted from 1
-- base_step_id       BIGINT   number of the step in the base; NULL when the base has fewer steps
-- new_step_id        BIGINT   number of the step in the new run; NULL when it has fewer steps
-- base_ns            DOUBLE   time of the step in the base: from its first kernel to the end of its last one, ns; NULL without
--                             it
-- new_ns             DOUBLE   time of the step in the new run, ns; NULL without it
-- difference_ns      DOUBLE   new_ns - base_ns; NULL where one lacks the step
-- ratio              DOUBLE   new_ns / base_ns; NULL where one lacks the step
-- base_outlier       VARCHAR  why the step of the base is an outlier: first step (warm-up), garbage collection, computing,
--                             communication, idle, or shorter; NULL when it is no outlier
-- new_outlier        VARCHAR  the same for the step of the new run
-- is_base_compared   BOOLEAN  whether the step of the base is part of the other tables, that is, not left out on request; NULL
--                             without it
-- is_new_compared    BOOLEAN  whether the step of the new run is; NULL without it
-- base_computing_ns  DOUBLE   time with a compute kernel in the base, ns; NULL without the step
-- new_computing_ns   DOUBLE   the same in the new run, ns
-- base_communication_not_overlapped_ns  DOUBLE   time with a communication operator and no compute kernel in the
--                             base, ns; NULL without the step
-- new_communication_not_overlapped_ns  DOUBLE   the same in the new run, ns
-- base_free_ns       DOUBLE   idle time in the base, ns; NULL without the step
-- new_free_ns        DOUBLE   idle time in the new run, ns; NULL without the step
-- base_rank_count    BIGINT   ranks of the base that have the step; NULL without any
-- new_rank_count     BIGINT   ranks of the new run that have the step; NULL without any
WITH collection AS (
    SELECT profile, step_id, sum(total_ns)::BIGINT AS collecting_ns
    FROM free.cause
    WHERE cause = 'garbage collection'
    GROUP BY profile, step_id
),
step AS (
    SELECT
        rank.run,
        rank.side,
        time.step_id,
        count(*) AS rank_count,
        sum(time.stage_ns + coalesce(time.bubble_ns, 0))::BIGINT // count(*) AS step_ns,
        sum(time.computing_ns) / count(*) AS computing_ns,
        sum(time.communication_not_overlapped_ns) / count(*) AS communication_not_overlapped_ns,
        sum(time.free_ns) / count(*) AS free_ns,
        coalesce(sum(collection.collecting_ns), 0) / count(*) AS collecting_ns,
        sum(time.stage_ns + coalesce(time.bubble_ns, 0)) / count(*) AS mean_ns
    FROM step.time
    JOIN runs.compared_rank AS rank ON rank.profile = time.profile
    LEFT JOIN collection ON collection.profile = time.profile AND collection.step_id = time.step_id
    WHERE rank.pair IS NOT NULL AND time.step_id IS NOT NULL AND time.stage_ns IS NOT NULL
    GROUP BY rank.run, rank.side, time.step_id
),
middle AS (
    SELECT
        run,
        side,
        count(*) AS step_count,
        quantile_disc(step_ns, 0.5) AS step_ns,
        quantile_disc(computing_ns, 0.5) AS computing_ns,
        quantile_disc(communication_not_overlapped_ns, 0.5) AS communication_not_overlapped_ns,
        quantile_disc(free_ns, 0.5) AS free_ns
    FROM step
    GROUP BY run, side
),
deviation AS (
    SELECT step.run, step.side, quantile_disc(abs(step.step_ns - middle.step_ns), 0.5) AS median_ns
    FROM step
    JOIN middle ON middle.run = step.run AND middle.side = step.side
    GROUP BY step.run, step.side
),
compared_step AS (
    SELECT DISTINCT run, side, step_id
    FROM runs.compared_unit
),
placed_step AS (
    SELECT
        step.*,
        row_number() OVER (PARTITION BY step.run, step.side ORDER BY step.step_id) AS place,
        -- 1.4826 median deviations are a standard deviation where values are spread normally.
        middle.step_count > 2
            AND abs(step.step_ns - middle.step_ns) > greatest(3 * 1.4826::DOUBLE * deviation.median_ns, middle.step_ns / 10)
            AS is_outlier,
        step.step_ns - middle.step_ns AS excess_ns,
        step.computing_ns - middle.computing_ns AS computing_excess_ns,
        step.communication_not_overlapped_ns - middle.communication_not_overlapped_ns AS communication_excess_ns,
        step.free_ns - middle.free_ns AS free_excess_ns,
        compared_step.step_id IS NOT NULL AS is_compared
    FROM step
    JOIN middle ON middle.run = step.run AND middle.side = step.side
    JOIN deviation ON deviation.run = step.run AND deviation.side = step.side
    LEFT JOIN compared_step
        ON compared_step.run = step.run AND compared_step.side = step.side AND compared_step.step_id = step.step_id
),
explained_step AS (
    SELECT
        *,
        CASE
            WHEN NOT is_outlier THEN NULL
            WHEN excess_ns < 0 THEN 'shorter'
            WHEN collecting_ns * 2 > excess_ns THEN 'garbage collection'
            WHEN place = 1 THEN 'first step (warm-up)'
            WHEN computing_excess_ns >= greatest(communication_excess_ns, free_excess_ns) THEN 'computing'
            WHEN communication_excess_ns >= free_excess_ns THEN 'communication'
            ELSE 'idle'
        END AS outlier
    FROM placed_step
)
SELECT
    run,
    place,
    min(step_id) FILTER (side = 'base') AS base_step_id,
    min(step_id) FILTER (side = 'new') AS new_step_id,
    min(mean_ns) FILTER (side = 'base') AS base_ns,
    min(mean_ns) FILTER (side = 'new') AS new_ns,
    min(mean_ns) FILTER (side = 'new') - min(mean_ns) FILTER (side = 'base') AS difference_ns,
    min(mean_ns) FILTER (side = 'new') / nullif(min(mean_ns) FILTER (side = 'base'), 0) AS ratio,
    min(outlier) FILTER (side = 'base') AS base_outlier,
    min(outlier) FILTER (side = 'new') AS new_outlier,
    bool_or(is_compared) FILTER (side = 'base') AS is_base_compared,
    bool_or(is_compared) FILTER (side = 'new') AS is_new_compared,
    min(computing_ns) FILTER (side = 'base') AS base_computing_ns,
    min(computing_ns) FILTER (side = 'new') AS new_computing_ns,
    min(communication_not_overlapped_ns) FILTER (side = 'base') AS base_communication_not_overlapped_ns,
    min(communication_not_overlapped_ns) FILTER (side = 'new') AS new_communication_not_overlapped_ns,
    min(free_ns) FILTER (side = 'base') AS base_free_ns,
    min(free_ns) FILTER (side = 'new') AS new_free_ns,
    min(rank_count) FILTER (side = 'base') AS base_rank_count,
    min(rank_count) FILTER (side = 'new') AS new_rank_count
FROM explained_step
GROUP BY run, place
ORDER BY run, place
