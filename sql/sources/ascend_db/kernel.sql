-- A TASK row is an execution on the device; what it computed is in one of two info tables. Large communication operators have a
-- table of their own. A task id can be executed more than once: each execution is a kernel. An id can also come again as that
-- of an event, a wait or a copy, as the type of the task says: that is none. A task on cores that nothing describes is a kernel
-- too, whose only name is the type of the task: its time is known, all else is not.
WITH untyped_kernel AS (
    SELECT DISTINCT name AS name_id, 'compute' AS kind FROM raw.compute_task_info WHERE opType IS NULL
    UNION ALL
    SELECT DISTINCT opName, 'communication' FROM raw.communication_op WHERE opType IS NULL
),
type_in_name AS (
    SELECT untyped_kernel.name_id, untyped_kernel.kind, type.text_id AS type_id
    FROM untyped_kernel
    JOIN trace.string AS name ON name.text_id = untyped_kernel.name_id
    JOIN trace.string AS type
        ON type.text = if(untyped_kernel.kind = 'compute', type_of_compute(name.text), type_of_communication(name.text))
),
described_task AS NOT MATERIALIZED (
    SELECT 'compute' AS kind, globalTaskId, name, taskType, opType, blockNum, mixBlockNum,
           inputShapes, inputDataTypes, inputFormats, outputShapes, outputDataTypes, outputFormats, hf32Eligible
    FROM raw.compute_task_info
    UNION ALL BY NAME
    SELECT 'schedule' AS kind, globalTaskId, name, taskType, opType
    FROM raw.communication_schedule_task_info
),
-- Kernels that run for an operator, whose time has a row of its own.
helper_name AS (
    SELECT text_id AS name, ends_with(text, 'AicpuKernel') AS is_control
    FROM trace.string
    WHERE text_id IN (SELECT name FROM raw.compute_task_info)
      AND (ends_with(text, 'AicpuKernel') OR ends_with(text, 'AivKernel'))
),
helper_core AS (
    SELECT text_id AS taskType
    FROM trace.string
    WHERE text IN ('COMMUNICATION', 'HCCL')
),
helper_kind AS (
    SELECT if(count(*) > 0, 'schedule', 'communication') AS kind
    FROM raw.communication_op
),
named_engine AS (
    SELECT text_id AS core_id, engine_of_cores(text) AS engine
    FROM trace.string
    WHERE engine_of_cores(text) IS NOT NULL
),
type_of_no_kernel AS (
    SELECT text_id AS taskType, is_task_without_work(text) AS is_without_work
    FROM trace.string
    WHERE text_id IN (SELECT taskType FROM raw.task)
      AND (is_task_without_work(text) OR role_of_communication_task(text) = 'transfer')
),
type_on_cores AS (
    SELECT text_id AS taskType
    FROM trace.string
    WHERE text_id IN (SELECT taskType FROM raw.task) AND is_task_on_cores(text)
),
-- Materialized, so that the joins of undescribed_task are of what is left here, nearly nothing: 0.3 s of CPU less for a million
-- kernels.
task_without_description AS MATERIALIZED (
    FROM raw.task
    SEMI JOIN type_on_cores USING (taskType)
    ANTI JOIN described_task USING (globalTaskId)
),
-- What operators run on cores is listed as theirs, or carries their launch.
undescribed_task AS (
    FROM task_without_description
    ANTI JOIN raw.communication_task_info USING (globalTaskId)
    ANTI JOIN (SELECT connectionId FROM raw.communication_op WHERE connectionId <> -1) AS operator USING (connectionId)
),
-- A task of parts lasts from before the first to after the last of them. They have its number, and a context each; they ran.
task_of_parts AS (
    SELECT row_id
    FROM (
        SELECT
            task.row_id,
            coalesce(task.contextId, 4294967295) = 4294967295 AND lead(task.endNs) OVER by_time <= task.endNs AS is_around_next
        FROM raw.task AS task
        SEMI JOIN undescribed_task USING (streamId, taskId)
        WINDOW by_time AS (
            PARTITION BY task.deviceId, task.streamId, task.taskId ORDER BY task.startNs, task.endNs DESC, task.row_id
        )
    )
    WHERE is_around_next
),
kernel AS (
    SELECT
        2 * task.row_id AS kernel_id,
        CASE
            WHEN helper_name.is_control THEN 'schedule'
            WHEN helper_name.name IS NOT NULL OR helper_core.taskType IS NOT NULL THEN helper_kind.kind
            ELSE info.kind
        END AS kind,
        info.name AS name_id,
        info.opType AS type_id,
        info.taskType AS core_id,
        task.deviceId AS device_id,
        nullif(task.streamId, 4294967295) AS stream_id,
        nullif(task.taskId, 4294967295) AS task_id,
        nullif(task.modelId, 4294967295) AS model_id,
        task.startNs AS start_ns,
        task.endNs AS end_ns,
        NULL::BIGINT AS step_id,
        nullif(task.connectionId, -1) AS launch_id,
        info.blockNum AS block_num,
        info.mixBlockNum AS mix_block_num,
        info.inputShapes AS input_shapes_id,
        info.inputDataTypes AS input_types_id,
        info.inputFormats AS input_formats_id,
        info.outputShapes AS output_shapes_id,
        info.outputDataTypes AS output_types_id,
        info.outputFormats AS output_formats_id,
        globalTaskId AS pmu_id,
        info.hf32Eligible AS hf32_eligible_id
    FROM raw.task AS task
    JOIN described_task AS info USING (globalTaskId)
    CROSS JOIN helper_kind
    LEFT JOIN helper_name ON helper_name.name = info.name
    LEFT JOIN helper_core ON helper_core.taskType = info.taskType AND info.kind = 'compute'
    LEFT JOIN named_engine ON named_engine.core_id = info.taskType
    LEFT JOIN type_of_no_kernel ON type_of_no_kernel.taskType = task.taskType
    -- What ran on cores was no copy.
    WHERE type_of_no_kernel.taskType IS NULL OR NOT (type_of_no_kernel.is_without_work OR named_engine.engine IS NOT NULL)
    UNION ALL BY NAME
    SELECT
        2 * row_id AS kernel_id,
        'compute' AS kind,
        taskType AS name_id,
        deviceId AS device_id,
        nullif(streamId, 4294967295) AS stream_id,
        nullif(taskId, 4294967295) AS task_id,
        nullif(modelId, 4294967295) AS model_id,
        startNs AS start_ns,
        endNs AS end_ns,
        nullif(connectionId, -1) AS launch_id
    FROM undescribed_task
    ANTI JOIN task_of_parts USING (row_id)
    UNION ALL BY NAME
    SELECT
        2 * row_id + 1 AS kernel_id,
        'communication' AS kind,
        opName AS name_id,
        opType AS type_id,
        deviceId AS device_id,
        startNs AS start_ns,
        endNs AS end_ns,
        nullif(connectionId, -1) AS launch_id
    FROM raw.communication_op
),
named_direction AS (
    SELECT text_id AS name_id, direction_of_communication(text) AS direction
    FROM trace.string
    WHERE direction_of_communication(text) IS NOT NULL
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
LEFT JOIN type_in_name ON type_in_name.name_id = kernel.name_id AND type_in_name.kind = kernel.kind
LEFT JOIN named_direction ON named_direction.name_id = kernel.name_id AND kernel.kind = 'communication'
LEFT JOIN named_engine ON named_engine.core_id = kernel.core_id
WHERE is_device_time(start_ns, end_ns)
  -- Where a database holds several devices, rows that name no device belong to the first one.
  AND (getvariable('device_id') IS NULL OR coalesce(device_id, getvariable('first_device_id')) = getvariable('device_id'))
