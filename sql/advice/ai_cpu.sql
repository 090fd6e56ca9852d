-- One row is a module, op and type of kernels that ran on CPUs of the device instead of its cores.
--
-- @title Kernels run on CPUs of the device
-- @evidence {count|1 kernel|kernels} on CPUs of the device (AI CPU), for {time_ns}[, with inputs of
--     {input_types}]{unless_critical(time_ns, win_ns)}
-- @kind upper bound
-- @remedy Give it inputs of a type for which the cores have a kernel, such as FLOAT, FLOAT16, BF16 or INT32 instead of DOUBLE,
--     INT64 or COMPLEX; or write it with other ops, or move it to the host.
-- @query SELECT duration_ns, kernel_count, type, module, rank_id FROM kernels.work WHERE engine = 'cpu' ORDER BY duration_ns
--     DESC LIMIT 50
-- @counts kernels
-- @requires compute
--
-- @columns profile to rank_id, module to kernel_type, count to win_ns as in advice.finding_of_rank
-- input_types  VARCHAR  types of their inputs, cut to 60 letters; NULL when not recorded
--
-- Kernels that ran on CPUs of the device (AI CPU) instead of its cores, by module, op and type, from `kernels.work`. The win is
-- all of their critical time: an upper bound, since a kernel on the cores takes some time too. The evidence names the data
-- types of the inputs, the likely reason: for DOUBLE, INT64 or COMPLEX there is often no kernel for the cores. msprof-analyze
-- reports such kernels from 20 us on; here the share of the step decides (`every.least_share`). GPUs have no such kernels.
WITH finding AS (
    SELECT
        profile,
        rank_id,
        module,
        op_name AS op,
        type AS kernel_type,
        string_agg(DISTINCT input_types, ' or ' ORDER BY input_types) AS input_types,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns
    FROM kernels.work
    WHERE engine::VARCHAR = 'cpu' AND kind::VARCHAR = 'compute'
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
    critical_ns AS win_ns,
    left(input_types, 60) AS input_types
FROM finding
