-- One row is the time of the rank in which cores of either kind had work. A device with one kind of core has no row. Kernels
-- outside all steps do not count where there are steps.
--
-- device_id            BIGINT  device; NULL when not recorded
-- computing_ns         BIGINT  time in which a kernel ran on cores of either kind, ns; overlapping kernels count once
-- matrix_ns            BIGINT  part of it in which one ran on cores that multiply matrices, ns
-- vector_ns            BIGINT  part of it in which one ran on vector cores, ns; a kernel led by matrix cores that uses both
--                              counts for both
-- only_vector_ns       BIGINT  part of it in which the cores that multiply matrices had nothing to do, ns
-- only_matrix_ns       BIGINT  part of it in which the vector cores had nothing to do, ns
-- stream_count         BIGINT  streams on which such kernels ran
WITH recorded_steps AS (
    SELECT count(*) > 0 AS has_rows
    FROM step.period
),
kernel_of_engine AS (
    SELECT
        kernel.device_id,
        kernel.stream_id,
        kernel.start_ns,
        kernel.end_ns,
        kernel.engine IN ('matrix', 'matrix and vector') AS is_matrix,
        kernel.engine IN ('vector', 'matrix and vector') AS is_vector
    FROM trace.kernel
    CROSS JOIN recorded_steps
    WHERE kernel.kind = 'compute'
      AND kernel.engine IN ('matrix', 'vector', 'matrix and vector')
      AND (NOT recorded_steps.has_rows OR kernel.kernel_id IN (SELECT kernel_id FROM kernels.step))
      AND (getvariable('step_id') IS NULL OR kernel.kernel_id IN (SELECT kernel_id FROM kernels.in_step))
),
-- The part of a kernel that no earlier kernel covers. One window for all three: three unions by added() take twice as long.
added_time AS (
    SELECT
        device_id,
        greatest(0, end_ns - greatest(start_ns, coalesce(max(end_ns) OVER before, start_ns))) AS any_ns,
        if(
            is_matrix,
            greatest(0, end_ns - greatest(start_ns, coalesce(max(end_ns) FILTER (is_matrix) OVER before, start_ns))),
            0
        ) AS matrix_ns,
        if(
            is_vector,
            greatest(0, end_ns - greatest(start_ns, coalesce(max(end_ns) FILTER (is_vector) OVER before, start_ns))),
            0
        ) AS vector_ns,
        stream_id
    FROM kernel_of_engine
    WINDOW before AS (
        PARTITION BY device_id ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)
SELECT
    device_id,
    sum(any_ns)::BIGINT AS computing_ns,
    sum(matrix_ns)::BIGINT AS matrix_ns,
    sum(vector_ns)::BIGINT AS vector_ns,
    sum(any_ns - matrix_ns)::BIGINT AS only_vector_ns,
    sum(any_ns - vector_ns)::BIGINT AS only_matrix_ns,
    count(DISTINCT stream_id) AS stream_count
FROM added_time
GROUP BY device_id
HAVING sum(vector_ns) > 0
