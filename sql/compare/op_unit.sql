-- One row is an op with its input shapes and one type of the kernels that it launched directly in a module, and how many there
-- were in each unit. Kernels outside modules, and those that no op launched, have rows of their own, so that the times of all
-- rows add up to those of all kernels but helpers of communication, which run in the time of its operators.
--
-- path_id          BIGINT   the module, a path of module.path; NULL outside modules
-- reason           VARCHAR  why the kernels are not inside modules, as in module.kernel; NULL inside
-- op_name_id       TEXT_ID  the op; NULL when linked to no op, or when the profile lost its name
-- kind             ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels; never schedule
-- type_id          TEXT_ID  operator type of the kernels; NULL when it is not known
-- input_shapes_id  TEXT_ID  input shapes of the kernels; where these have none, as on GPUs, those of the op; NULL without both
-- is_in_unit       BOOLEAN  whether the kernels belong to units; those of none have rows of their own
-- first_start_ns   BIGINT   start of the first of these ops, Unix ns; NULL when linked to no op
-- units            STRUCT(unit_id BIGINT, kernel_count BIGINT, duration_ns BIGINT)[]  the kernels in each unit of compare.unit;
--                           the unit is NULL for kernels of no unit
WITH shape_of_op AS (
    SELECT kernel.kernel_id, op.input_shapes_id
    FROM module.kernel
    JOIN trace.op USING (op_id)
    WHERE kernel.input_shapes_id IS NULL AND kernel.kind <> 'communication' AND op.input_shapes_id IS NOT NULL
),
of_unit AS (
    SELECT
        kernel.path_id,
        kernel.reason,
        kernel.op_name_id,
        kernel.kind,
        kernel.type_id,
        coalesce(kernel.input_shapes_id, shape_of_op.input_shapes_id) AS input_shapes_id,
        kernel_of_unit.unit_id,
        min(kernel.op_start_ns) AS first_start_ns,
        count(*) AS kernel_count,
        sum(kernel.duration_ns)::BIGINT AS duration_ns
    FROM module.kernel
    LEFT JOIN shape_of_op USING (kernel_id)
    LEFT JOIN compare.kernel_of_unit USING (kernel_id)
    WHERE kernel.kind <> 'schedule'
    GROUP BY ALL
)
SELECT
    path_id,
    reason,
    op_name_id,
    kind,
    type_id,
    input_shapes_id,
    unit_id IS NOT NULL AS is_in_unit,
    min(first_start_ns) AS first_start_ns,
    list({'unit_id': unit_id, 'kernel_count': kernel_count, 'duration_ns': duration_ns} ORDER BY unit_id) AS units
FROM of_unit
GROUP BY path_id, reason, op_name_id, kind, type_id, input_shapes_id, unit_id IS NOT NULL
