-- One row is a module, an op, a type and a shape of matmuls that follow each other on a stream with nothing between them: none
-- can need the result of the one before it but where that is its input as it is. Only runs of two or more count, and only
-- matmuls with known FLOPs and peak.
--
-- @columns module to data_type as in roofline.matmul
-- run_count        BIGINT   runs
-- @columns kernel_count to critical_ns as in roofline.matmul
-- gap_ns           BIGINT   idle time of the stream between the kernels of a run, ns
-- one_ns           BIGINT   mean critical time of a kernel of each run, added up over the runs, ns
-- at_peak_ns       BIGINT   time that their FLOPs take at the peak, ns
WITH recorded_steps AS (
    SELECT count(*) > 0 AS has_rows
    FROM step.period
),
matmul AS (
    SELECT
        judged.kernel_id,
        kernel.path_id,
        kernel.op_name_id,
        kernel.type_id,
        judged.input_shapes_id,
        judged.data_type,
        kernel.start_ns,
        kernel.end_ns,
        judged.duration_ns,
        critical.critical_ns,
        judged.known_flops * 1000 / judged.possible_flops * judged.duration_ns AS at_peak_ns,
        place.stream,
        place.place
    FROM mfu.judged
    JOIN chain.place USING (kernel_id)
    JOIN module.kernel USING (kernel_id)
    JOIN critical.kernel AS critical USING (kernel_id)
    CROSS JOIN recorded_steps
    WHERE judged.known_flops > 0
      AND place.symbol IN ('M', 'B')
      AND (NOT recorded_steps.has_rows OR judged.kernel_id IN (SELECT kernel_id FROM kernels.step))
),
-- Matmuls next to each other have the same difference of their place and their number.
numbered AS (
    SELECT
        *,
        place - row_number() OVER (
            PARTITION BY stream, path_id, op_name_id, type_id, input_shapes_id, data_type ORDER BY place
        ) AS place_before
    FROM matmul
),
run AS (
    SELECT
        path_id,
        op_name_id,
        type_id,
        input_shapes_id,
        data_type,
        count(*) AS kernel_count,
        sum(duration_ns) AS duration_ns,
        sum(critical_ns) AS critical_ns,
        greatest(0, max(end_ns) - min(start_ns) - sum(duration_ns)) AS gap_ns,
        sum(at_peak_ns) AS at_peak_ns
    FROM numbered
    GROUP BY stream, place_before, path_id, op_name_id, type_id, input_shapes_id, data_type
    HAVING count(*) > 1
),
summed_run AS (
    SELECT
        path_id,
        op_name_id,
        type_id,
        input_shapes_id,
        data_type,
        count(*) AS run_count,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(gap_ns)::BIGINT AS gap_ns,
        round(sum(critical_ns / kernel_count))::BIGINT AS one_ns,
        round(sum(at_peak_ns))::BIGINT AS at_peak_ns
    FROM run
    GROUP BY path_id, op_name_id, type_id, input_shapes_id, data_type
)
SELECT path.module_path AS module, summed_run.* EXCLUDE (path_id)
FROM summed_run
LEFT JOIN module.path USING (path_id)
ORDER BY
    summed_run.duration_ns DESC, summed_run.path_id, summed_run.op_name_id, summed_run.type_id, summed_run.input_shapes_id
