-- A kernel is in trace_view.json, with the call that launched it, and in kernel_details.csv, with a description of its
-- computation; each file can lack some kernels or all. Compute kernels are matched by start and name, communication operators
-- by name, and those of one name by their order. Old versions wrote times of trace_view.json as JSON numbers, and pandas writes
-- a csv with floats: then a start is up to 175 ns off; in a csv of whole microseconds, up to one microsecond. trace_view.json
-- also has tasks that are no kernels, such as events and copies. In a csv an operator can be there twice: as such, and as its
-- kernels on a stream, which are helpers beside it, and communication where it is missing. Where the type of a task does not
-- say what it is (old versions write Other for most), its name says it in part: tasks of the runtime have names such as
-- MEMCPY_ASYNC. A task with another name is a kernel where the profiler's Overlap Analysis counts its time as computing, or,
-- without that analysis, where a call on the host launched it.
WITH untyped_kernel AS (
    SELECT name FROM raw.kernel_detail WHERE type IS NULL
    UNION
    SELECT name FROM raw.device_task
),
type_in_name AS (
    SELECT untyped_kernel.name AS name_id, text_id(type_of_compute(name.text)) AS type_id
    FROM untyped_kernel
    JOIN trace.string AS name ON name.text_id = untyped_kernel.name
    WHERE type_of_compute(name.text) IS NOT NULL
),
described_kernel AS (
    SELECT
        kernel_detail.* REPLACE (
            if(is_device_time(start_ns, TRY(start_ns + duration_ns)), duration_ns, NULL) AS duration_ns
        ),
        CASE
            WHEN core.text IN ('COMMUNICATION', 'HCCL') OR ends_with(name.text, 'AivKernel') THEN 'communication'
            WHEN ends_with(name.text, 'AicpuKernel') THEN 'schedule'
            ELSE 'compute'
        END AS kind,
        kind = 'communication' AND stream_id IS NULL AS is_operator
    FROM raw.kernel_detail
    LEFT JOIN trace.string AS name ON name.text_id = kernel_detail.name
    LEFT JOIN trace.string AS core ON core.text_id = kernel_detail.core
),
-- An operator has a row without a stream, and on a stream a row for each of its kernels.
operator_time AS (
    SELECT start_ns, max(max(end_ns)) OVER (ORDER BY start_ns) AS reached_ns
    FROM (
        SELECT start_ns, TRY(start_ns + duration_ns) AS end_ns
        FROM described_kernel
        WHERE is_operator
        UNION ALL
        SELECT start_ns, end_ns
        FROM raw.communication_op
    )
    WHERE is_device_time(start_ns, end_ns)
    GROUP BY start_ns
),
within_operator AS (
    SELECT described_kernel.row_number
    FROM described_kernel
    ASOF JOIN operator_time ON operator_time.start_ns <= TRY(described_kernel.start_ns + 1000)
    WHERE described_kernel.kind = 'communication'
      AND NOT described_kernel.is_operator
      AND described_kernel.start_ns <= operator_time.reached_ns
),
detail AS (
    SELECT described_kernel.* REPLACE (if(within_operator.row_number IS NULL, kind, 'schedule') AS kind)
    FROM described_kernel
    LEFT JOIN within_operator USING (row_number)
),
inexact_start AS (
    SELECT DISTINCT name, start_ns FROM detail ANTI JOIN raw.device_task USING (name, start_ns)
),
other_start AS (
    SELECT DISTINCT name, start_ns FROM raw.device_task ANTI JOIN detail USING (name, start_ns)
),
resolution AS (
    SELECT if(bool_or(start_ns % 1000 <> 0), 200, 1000) AS ns
    FROM inexact_start
),
exact_start AS (
    SELECT detail.name, detail.start_ns AS inexact_start_ns, task.start_ns
    FROM inexact_start AS detail
    CROSS JOIN resolution
    ASOF JOIN other_start AS task ON task.name = detail.name AND task.start_ns <= TRY(detail.start_ns + resolution.ns)
    WHERE task.start_ns >= detail.start_ns - resolution.ns
),
detailed_task AS (
    SELECT
        detail.* REPLACE (coalesce(exact_start.start_ns, detail.start_ns) AS start_ns),
        row_number() OVER (
            PARTITION BY detail.name, coalesce(exact_start.start_ns, detail.start_ns) ORDER BY stream_id, task_id, row_number
        ) AS position
    FROM detail
    LEFT JOIN exact_start ON exact_start.name = detail.name AND exact_start.inexact_start_ns = detail.start_ns
    WHERE NOT is_operator
),
computing AS (
    SELECT device_id, start_ns, max(end_ns) AS end_ns
    FROM trace.overlap
    WHERE kind = 'computing'
    GROUP BY device_id, start_ns
),
unclear_task AS (
    SELECT event_id, process.device_id, start_ns, end_ns, connection_id
    FROM raw.device_task
    LEFT JOIN trace.device_process AS process USING (pid)
    JOIN trace.string AS name ON name.text_id = device_task.name
    LEFT JOIN trace.string AS type ON type.text_id = device_task.task_type
    WHERE device_task.name IS DISTINCT FROM device_task.task_type
      AND coalesce(lower(type.text) IN ('', 'other', 'n/a', 'null', 'unknown', 'invalid'), true)
      AND NOT regexp_matches(name.text, '^[A-Z][A-Z0-9]*([_ ][A-Z0-9]+)+$|^Memco?py')
),
unclear_kernel AS (
    SELECT unclear_task.event_id
    FROM unclear_task
    ASOF LEFT JOIN computing
        ON coalesce(computing.device_id, -1) = coalesce(unclear_task.device_id, -1)
        AND computing.start_ns <= unclear_task.start_ns
    WHERE if(EXISTS (FROM computing), unclear_task.end_ns <= computing.end_ns + 2, unclear_task.connection_id >= 0)
),
task AS (
    SELECT
        device_task.*,
        process.device_id,
        row_number() OVER (PARTITION BY device_task.name, start_ns ORDER BY stream_id, task_id, event_id) AS position,
        CASE
            WHEN ends_with(name.text, 'AicpuKernel') OR ends_with(name.text, 'AivKernel') THEN 'schedule'
            WHEN regexp_matches(type.text, '^(AI_|AIC|AIV|MIX_|KERNEL_|DSA_)') THEN 'compute'
            WHEN unclear_kernel.event_id IS NOT NULL THEN 'compute'
        END AS kind
    FROM raw.device_task
    LEFT JOIN unclear_kernel USING (event_id)
    LEFT JOIN trace.device_process AS process USING (pid)
    JOIN trace.string AS name ON name.text_id = device_task.name
    LEFT JOIN trace.string AS type ON type.text_id = device_task.task_type
    WHERE device_task.name IS DISTINCT FROM device_task.task_type
),
detailed_operator AS (
    SELECT *, row_number() OVER (PARTITION BY name ORDER BY start_ns, row_number) AS position
    FROM detail
    WHERE is_operator
),
operator AS (
    SELECT
        communication_op.*,
        process.device_id,
        row_number() OVER (PARTITION BY name ORDER BY start_ns, event_id) AS position
    FROM raw.communication_op
    LEFT JOIN trace.device_process AS process USING (pid)
),
kernel AS (
    SELECT
        coalesce(task.event_id, -detailed.row_number) AS kernel_id,
        coalesce(detailed.kind, task.kind) AS kind,
        name AS name_id,
        detailed.type AS type_id,
        if(detailed.kind = 'communication', NULL, detailed.core) AS core_id,
        coalesce(detailed.device_id, task.device_id) AS device_id,
        if(detailed.kind = 'communication', NULL, nullif(coalesce(detailed.stream_id, task.stream_id, task.tid), 4294967295))
            AS stream_id,
        if(detailed.kind = 'communication', NULL, nullif(coalesce(detailed.task_id, task.task_id), 4294967295)) AS task_id,
        nullif(coalesce(detailed.model_id, task.model_id), 4294967295) AS model_id,
        start_ns,
        coalesce(TRY(detailed.start_ns + detailed.duration_ns), task.end_ns) AS end_ns,
        detailed.step_id,
        nullif(task.connection_id, -1) AS launch_id,
        detailed.block_num,
        detailed.mix_block_num,
        detailed.input_shapes AS input_shapes_id,
        detailed.input_types AS input_types_id,
        detailed.input_formats AS input_formats_id,
        detailed.output_shapes AS output_shapes_id,
        detailed.output_types AS output_types_id,
        detailed.output_formats AS output_formats_id,
        detailed.row_number AS pmu_id,
        detailed.hf32_eligible AS hf32_eligible_id
    FROM detailed_task AS detailed
    FULL JOIN task USING (name, start_ns, position)
    WHERE coalesce(detailed.kind, task.kind) IS NOT NULL
    UNION ALL BY NAME
    SELECT
        coalesce(operator.event_id, -detailed.row_number) AS kernel_id,
        'communication' AS kind,
        name AS name_id,
        coalesce(detailed.type, operator.type) AS type_id,
        coalesce(detailed.device_id, operator.device_id) AS device_id,
        coalesce(operator.start_ns, detailed.start_ns) AS start_ns,
        coalesce(operator.end_ns, TRY(detailed.start_ns + detailed.duration_ns)) AS end_ns,
        detailed.step_id,
        nullif(operator.connection_id, -1) AS launch_id
    FROM detailed_operator AS detailed
    FULL JOIN operator USING (name, position)
),
named_direction AS (
    SELECT text_id AS name_id, direction_of_communication(text) AS direction
    FROM trace.string
    WHERE direction_of_communication(text) IS NOT NULL
),
named_engine AS (
    SELECT text_id AS core_id, engine_of_cores(text) AS engine
    FROM trace.string
    WHERE engine_of_cores(text) IS NOT NULL
)
SELECT
    kernel.* REPLACE (
        kernel.kind::ENUM('compute', 'communication', 'copy', 'schedule') AS kind,
        coalesce(kernel.type_id, type_in_name.type_id) AS type_id
    ),
    CASE WHEN kernel.type_id IS NOT NULL THEN 'profile' WHEN type_in_name.type_id IS NOT NULL THEN 'name' END
        ::ENUM('profile', 'name') AS type_from,
    kernel.end_ns - kernel.start_ns AS duration_ns,
    named_direction.direction::ENUM('send', 'receive', 'both') AS direction,
    named_engine.engine::ENUM('matrix', 'vector', 'matrix and vector', 'copy', 'cpu') AS engine,
    NULL::ENUM('fp32', 'tf32') AS fp32_as
FROM kernel
LEFT JOIN type_in_name ON type_in_name.name_id = kernel.name_id AND kernel.kind = 'compute'
LEFT JOIN named_direction ON named_direction.name_id = kernel.name_id AND kernel.kind = 'communication'
LEFT JOIN named_engine ON named_engine.core_id = kernel.core_id
WHERE is_device_time(start_ns, end_ns)
