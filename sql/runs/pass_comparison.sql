-- One row is a phase of passes of a server and a number of requests, in the base and in the new run, the one whose time changed
-- most first. Only passes of the steady state count, of the ranks that are compared.
--
-- run                   VARCHAR  the run that is compared with the base
-- phase                 VARCHAR  as in pass.instance; NULL when not known
-- request_count         BIGINT   requests of each pass; NULL when not known
-- base_pass_count       BIGINT   passes of the base
-- new_pass_count        BIGINT   passes of the new run
-- base_median_ns        BIGINT   median of their time on the device in the base, ns; NULL without passes
-- new_median_ns         BIGINT   the same in the new run, ns
-- difference_ns         BIGINT   new_median_ns - base_median_ns
-- ratio                 DOUBLE   new_median_ns / base_median_ns; NULL when that is 0
-- base_p99_ns           BIGINT   time that 99 % of the passes of the base do not exceed, ns
-- new_p99_ns            BIGINT   the same in the new run, ns
-- base_median_gap_ns    BIGINT   median of the time before them that belongs to no pass, in the base, ns
-- new_median_gap_ns     BIGINT   the same in the new run, ns
-- base_median_cycle_ns  BIGINT   median of both together in the base, ns
-- new_median_cycle_ns   BIGINT   the same in the new run, ns
-- base_share            DOUBLE   part of all passes of the base; NULL when that has none
-- new_share             DOUBLE   part of all passes of the new run; NULL when that has none
-- is_in_both            BOOLEAN  whether both runs have such passes
WITH compared_pass AS (
    SELECT rank.run, rank.side, time.phase, time.request_count, time.duration_ns, time.gap_before_ns, time.cycle_ns
    FROM pass.time
    JOIN runs.compared_rank AS rank ON rank.profile = time.profile
    WHERE time.is_steady AND rank.pair IS NOT NULL
),
statistic AS (
    SELECT
        run,
        phase,
        request_count,
        count(*) FILTER (side = 'base') AS base_pass_count,
        count(*) FILTER (side = 'new') AS new_pass_count,
        quantile_disc(duration_ns, 0.5) FILTER (side = 'base') AS base_median_ns,
        quantile_disc(duration_ns, 0.5) FILTER (side = 'new') AS new_median_ns,
        quantile_disc(duration_ns, 0.99) FILTER (side = 'base') AS base_p99_ns,
        quantile_disc(duration_ns, 0.99) FILTER (side = 'new') AS new_p99_ns,
        quantile_disc(gap_before_ns, 0.5) FILTER (side = 'base') AS base_median_gap_ns,
        quantile_disc(gap_before_ns, 0.5) FILTER (side = 'new') AS new_median_gap_ns,
        quantile_disc(cycle_ns, 0.5) FILTER (side = 'base') AS base_median_cycle_ns,
        quantile_disc(cycle_ns, 0.5) FILTER (side = 'new') AS new_median_cycle_ns
    FROM compared_pass
    GROUP BY run, phase, request_count
)
SELECT
    run,
    phase,
    request_count,
    base_pass_count,
    new_pass_count,
    base_median_ns,
    new_median_ns,
    new_median_ns - base_median_ns AS difference_ns,
    new_median_ns / nullif(base_median_ns, 0) AS ratio,
    base_p99_ns,
    new_p99_ns,
    base_median_gap_ns,
    new_median_gap_ns,
    base_median_cycle_ns,
    new_median_cycle_ns,
    base_pass_count / nullif(sum(base_pass_count) OVER (PARTITION BY run), 0) AS base_share,
    new_pass_count / nullif(sum(new_pass_count) OVER (PARTITION BY run), 0) AS new_share,
    base_pass_count > 0 AND new_pass_count > 0 AS is_in_both
FROM statistic
ORDER BY run, is_in_both DESC, abs(difference_ns) * least(base_pass_count, new_pass_count) DESC NULLS LAST, phase, request_count
