-- One row is a module, op and type of kernels that take far longer than usual because others run beside them.
--
-- @guard critical.contention
-- @title Kernels take longer because others run beside them
-- @evidence {count} of {all_count|1 kernel|kernels} run beside {neighbour_type} and take {mean_ns} on average, where equal ones
--     elsewhere take {usual_mean_ns}; the kernels beside them take {neighbour_mean_ns}{unless_critical(duration_ns,
--     critical_ns)}
-- @kind upper bound
-- @remedy Do not make these kernels faster: they wait for cores, or for memory, that {neighbour_type} has. Shorten that one; or
--     start these before it, where their inputs are ready, or give both fewer cores so that they fit beside each other.
-- @query SELECT duration_ns, usual_ns, kernel_count, type, neighbour_type FROM critical.contention ORDER BY duration_ns DESC
--     LIMIT 20
-- @counts kernels
-- @requires compute
--
-- @columns profile to rank_id, module to kernel_type, count to win_ns as in advice.finding_of_rank
-- all_count          BIGINT   kernels with these that do not run beside others
-- neighbour_type     VARCHAR  type of the kernels beside them, cut to 60 letters
-- mean_ns            DOUBLE   mean time of a kernel, ns
-- usual_mean_ns      DOUBLE   mean time of equal kernels elsewhere, ns
-- neighbour_mean_ns  DOUBLE   mean time of the kernels beside them, ns
-- duration_ns        BIGINT   time of the kernels, ns
-- critical_ns        BIGINT   the part of duration_ns in kernels that are critical, as in critical.kernel, ns
--
-- Kernels that take twice as long as usual or more because of a kernel beside them on another stream, by module, op and type
-- (`critical.contention`). The usual time is the median of kernels with the same type, shapes, data types and blocks that do
-- not run beside kernels of the neighbour's type. The rule needs two of them, and recorded shapes, which GPU traces lack. The
-- slow kernels wait for cores or memory that the neighbour uses. The win is an upper bound: the extra time, but at most their
-- critical time, the part that the neighbour does not cover. So if the time is large and the win small, look at the neighbour.
WITH finding AS (
    SELECT
        profile,
        rank_id,
        module,
        op_name AS op,
        type AS kernel_type,
        arg_max(neighbour_type, (duration_ns, neighbour_type)) AS neighbour_type,
        sum(kernel_count)::BIGINT AS kernel_count,
        max(all_count) AS all_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(usual_ns)::BIGINT AS usual_ns,
        sum(neighbour_ns)::BIGINT AS neighbour_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(win_ns)::BIGINT AS win_ns
    FROM critical.contention
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    module,
    op,
    kernel_type,
    kernel_count AS count,
    duration_ns - usual_ns AS time_ns,
    win_ns,
    all_count,
    left(neighbour_type, 60) AS neighbour_type,
    duration_ns / kernel_count AS mean_ns,
    usual_ns / kernel_count AS usual_mean_ns,
    neighbour_ns / kernel_count AS neighbour_mean_ns,
    duration_ns,
    critical_ns
FROM finding
