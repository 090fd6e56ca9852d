-- One row is a module, op and type of small matmuls of one shape that run one after another, where one product of a batch could
-- take their place.
--
-- @guard roofline.matmul_run
-- @title Small matmuls run one after another
-- @evidence {count} matmuls of {input_shapes} in {run_count|1 run|runs}, {kernels_of_one:.0f} in each with nothing between
--     them, take {time_ns} at {peak_share} of the peak[; the device is idle between them for {gap_ns}]{unless_critical(time_ns,
--     critical_ns)}
-- @kind upper bound
-- @remedy Make them one: stack the inputs for a batched product (torch.bmm, torch.vmap), join weights of the same input such as
--     query, key and value, or take a grouped product for experts.
-- @query SELECT duration_ns, kernel_count, run_count, at_peak_ns, input_shapes FROM roofline.matmul_run ORDER BY duration_ns
--     DESC LIMIT 50
-- @counts kernels
-- @requires compute, shapes
-- @threshold attainable_efficiency 0.8: Share of the peak that the joined product can reach, as for slow_matmul
-- @threshold least_kernel_count 3: Matmuls that must follow each other
-- @threshold most_duration_ns 50000 ns: Mean time from which on a matmul is not small
-- @threshold most_efficiency 0.25: Share of the peak from which on they use the device well enough
--
-- @columns profile to rank_id, module to kernel_type, count to win_ns as in advice.finding_of_rank
-- run_count       BIGINT   runs of matmuls
-- kernels_of_one  DOUBLE   mean number of matmuls of a run
-- peak_share      DOUBLE   share of the peak that they reach
-- gap_ns          BIGINT   idle time of the stream between them, ns; NULL without any
-- critical_ns     BIGINT   the part of time_ns in kernels that are critical, as in critical.kernel, ns
-- input_shapes    VARCHAR  of the shape in which most can be won, its inputs, cut to 60 letters
--
-- Matmuls of one module, op, type and shape that follow each other on a stream with no kernel between them, three or more
-- (`least_kernel_count`), each of 50 us or less (`most_duration_ns`), that reach less than 25 % of the peak
-- (`most_efficiency`). With no kernel between them, they hardly need each other's results: heads, experts or weights of one
-- input in a loop. A product that takes the result of the one before it as it is (powers of a matrix) looks the same. The win
-- is an upper bound: their critical time, less that of one of each run, or less the time of all at 80 % of the peak
-- (`attainable_efficiency`), if that is longer. The rule needs a known peak (`--peak-tflops`) and shapes.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'attainable_efficiency') AS attainable_efficiency,
        max(value) FILTER (name = 'least_kernel_count') AS least_kernel_count,
        max(value) FILTER (name = 'most_duration_ns') AS most_duration_ns,
        max(value) FILTER (name = 'most_efficiency') AS most_efficiency
    FROM advice.threshold
    WHERE rule = 'small_matmuls'
),
shape AS (
    SELECT
        run.*,
        run.critical_ns - greatest(run.one_ns, run.at_peak_ns / threshold.attainable_efficiency) AS win_ns
    FROM roofline.matmul_run AS run
    CROSS JOIN threshold
    WHERE run.kernel_count >= threshold.least_kernel_count * run.run_count
      AND run.duration_ns <= threshold.most_duration_ns * run.kernel_count
      AND run.at_peak_ns < threshold.most_efficiency * run.duration_ns
),
finding AS (
    SELECT
        profile,
        rank_id,
        module,
        op_name AS op,
        type AS kernel_type,
        sum(run_count)::BIGINT AS run_count,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(at_peak_ns) / sum(duration_ns) AS peak_share,
        sum(gap_ns)::BIGINT AS gap_ns,
        round(sum(win_ns))::BIGINT AS win_ns,
        arg_max(input_shapes, (win_ns, input_shapes)) AS input_shapes
    FROM shape
    WHERE win_ns > 0
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
    win_ns,
    run_count,
    kernel_count / run_count AS kernels_of_one,
    peak_share,
    nullif(gap_ns, 0) AS gap_ns,
    critical_ns,
    shown_shapes(input_shapes) AS input_shapes
FROM finding
