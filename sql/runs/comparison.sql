-- One row is a run that is compared with the base: by how many units its figures are divided, how many samples say how much
-- they vary, and the time of all kernels, by which shares of the difference are measured.
--
-- run                VARCHAR  the run that is compared with the base
-- base_unit_kind     VARCHAR  what a unit of the base is, as in runs.compared_run
-- new_unit_kind      VARCHAR  what a unit of the new run is
-- base_unit_count    BIGINT   units of the base
-- new_unit_count     BIGINT   units of the new run
-- base_distinct_count BIGINT  of these, units with different numbers: a step that several ranks have is one
-- new_distinct_count BIGINT   the same of the new run
-- base_rank_count    BIGINT   ranks of the base that are compared
-- new_rank_count     BIGINT   ranks of the new run that are compared
-- sample_kind        VARCHAR  what a noise sample is, as in runs.compared_run
-- base_sample_count  BIGINT   noise samples of the base
-- new_sample_count   BIGINT   noise samples of the new run
-- base_sum_ns        BIGINT   time of all kernels of the base, ns; overlapping kernels count fully
-- new_sum_ns         BIGINT   time of all kernels of the new run, ns
-- base_ns            DOUBLE   base_sum_ns / base_unit_count
-- new_ns             DOUBLE   new_sum_ns / new_unit_count
-- difference_ns      DOUBLE   new_ns - base_ns
-- has_common_types   BOOLEAN  whether a type of compute kernels occurs in both, so that types can be compared; NULL without
--                             types
-- base_paired_share  DOUBLE   part of the kernel time inside modules of the base that is in modules of both; NULL without any
-- new_paired_share   DOUBLE   the same of the new run
-- noise_reason       VARCHAR  why it is not known how much figures vary; NULL when it is known
WITH pair AS (
    SELECT
        run,
        max(unit_kind) FILTER (side = 'base') AS base_unit_kind,
        max(unit_kind) FILTER (side = 'new') AS new_unit_kind,
        max(unit_count) FILTER (side = 'base') AS base_unit_count,
        max(unit_count) FILTER (side = 'new') AS new_unit_count,
        max(distinct_count) FILTER (side = 'base') AS base_distinct_count,
        max(distinct_count) FILTER (side = 'new') AS new_distinct_count,
        max(rank_count) FILTER (side = 'base') AS base_rank_count,
        max(rank_count) FILTER (side = 'new') AS new_rank_count,
        max(sample_kind) AS sample_kind,
        max(sample_count) FILTER (side = 'base') AS base_sample_count,
        max(sample_count) FILTER (side = 'new') AS new_sample_count,
        max(reason) AS noise_reason
    FROM runs.compared_run
    GROUP BY run
),
type AS (
    SELECT run, bool_or(is_in_both) AS has_common_types
    FROM (
        SELECT run, type, count(DISTINCT side) = 2 AS is_in_both
        FROM runs.compared_op
        WHERE kind = 'compute' AND type IS NOT NULL
        GROUP BY run, type
    )
    GROUP BY run
),
paired_share AS (
    SELECT
        run,
        coalesce(sum(base_self_sum_ns) FILTER (rule NOT LIKE 'only %'), 0)
            / nullif(sum(base_self_sum_ns), 0) AS base_paired_share,
        coalesce(sum(new_self_sum_ns) FILTER (rule NOT LIKE 'only %'), 0)
            / nullif(sum(new_self_sum_ns), 0) AS new_paired_share
    FROM runs.module_comparison
    WHERE rule IS NOT NULL
    GROUP BY run
),
total AS (
    SELECT
        run,
        coalesce(sum(duration_ns) FILTER (side = 'base'), 0)::BIGINT AS base_sum_ns,
        coalesce(sum(duration_ns) FILTER (side = 'new'), 0)::BIGINT AS new_sum_ns
    FROM runs.compared_op
    GROUP BY run
)
SELECT
    run,
    pair.base_unit_kind,
    pair.new_unit_kind,
    pair.base_unit_count,
    pair.new_unit_count,
    pair.base_distinct_count,
    pair.new_distinct_count,
    pair.base_rank_count,
    pair.new_rank_count,
    pair.sample_kind,
    pair.base_sample_count,
    pair.new_sample_count,
    coalesce(total.base_sum_ns, 0) AS base_sum_ns,
    coalesce(total.new_sum_ns, 0) AS new_sum_ns,
    coalesce(total.base_sum_ns, 0) / pair.base_unit_count AS base_ns,
    coalesce(total.new_sum_ns, 0) / pair.new_unit_count AS new_ns,
    coalesce(total.new_sum_ns, 0) / pair.new_unit_count - coalesce(total.base_sum_ns, 0) / pair.base_unit_count
        AS difference_ns,
    type.has_common_types,
    paired_share.base_paired_share,
    paired_share.new_paired_share,
    if(pair.base_sample_count > 1 AND pair.new_sample_count > 1, NULL, pair.noise_reason) AS noise_reason
FROM pair
LEFT JOIN total USING (run)
LEFT JOIN type USING (run)
LEFT JOIN paired_share USING (run)
ORDER BY run
