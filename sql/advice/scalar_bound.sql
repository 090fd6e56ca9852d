-- One row is a module, op and type of kernels that spend their time in the scalar unit of the cores.
--
-- @guard pmu.busiest
-- @title Kernels spend their time in the scalar unit
-- @evidence The scalar unit works for {busy_share} of the {time_ns} of {count|a kernel|kernels}, computing and moving data for
--     [{other_share} at most]{is_less?less|}{unless_critical(time_ns, critical_ns)}
-- @kind upper bound
-- @remedy Own kernels (Triton, TileLang, Ascend C): work on whole tiles and not on single elements, take loops, divisions and
--     masks out of the inner loop, make tiles larger, and compute indices in 32 bits. Kernels of a library: inputs of another
--     type (INT32 in place of INT64), other shapes, or a newer version.
-- @query SELECT sum(duration_ns)::BIGINT AS duration_ns, (sum(busy_percent * duration_ns) // sum(duration_ns))::BIGINT AS busy,
--     bound, type, module FROM pmu.busiest WHERE bound = 'scalar' GROUP BY ALL ORDER BY duration_ns DESC LIMIT 20
-- @counts kernels
-- @requires compute, counters
-- @threshold least_busy_percent 80 %: Part of the time in which the scalar unit must be busy, as for memory_bound
-- @threshold least_duration_ns 20000 ns: Mean time that kernels must have, as for no_bound
--
-- @columns profile to rank_id, module to kernel_type, count to win_ns as in advice.finding_of_rank
-- busy_share   DOUBLE   share of the time in which the scalar unit works
-- other_share  DOUBLE   share in which the busiest of the other units works at most; NULL when no kernel is critical
-- is_less      BOOLEAN  whether no kernel is critical
-- critical_ns  BIGINT   the part of time_ns in kernels that are critical, as in critical.kernel, ns
--
-- Kernels of 20 us or more in which the scalar unit works for 80 % of the time or more, by the hardware counters
-- (`pmu.busiest`; both thresholds are those of [no-bound](#no-bound)). The scalar unit computes addresses and loops, and
-- handles data that does not fit the vector unit, one element at a time. Kernels of one's own (Triton, TileLang) often do this.
-- The win is an upper bound: the critical time less the time in which the next busiest part works.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_busy_percent') AS least_busy_percent,
        max(value) FILTER (name = 'least_duration_ns') AS least_duration_ns
    FROM advice.threshold
    WHERE rule = 'scalar_bound'
),
finding AS (
    SELECT
        profile,
        rank_id,
        module,
        op_name AS op,
        type AS kernel_type,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(other_ns)::BIGINT AS other_ns,
        sum(busy_percent * duration_ns) / sum(duration_ns) / 100 AS busy_share
    FROM pmu.busiest
    CROSS JOIN threshold
    WHERE bound = 'scalar' AND busy_percent >= least_busy_percent AND duration_ns >= least_duration_ns * kernel_count
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    module,
    op,
    kernel_type,
    kernel_count AS count,
    duration_ns AS time_ns,
    critical_ns - other_ns AS win_ns,
    busy_share,
    if(critical_ns > 0, other_ns / critical_ns, NULL) AS other_share,
    critical_ns = 0 AS is_less,
    critical_ns
FROM finding
