-- Each row of TASK and COMMUNICATION_OP is in one place. What communication operators do is listed as theirs, carries
-- their launch, or moves data while one runs. Where a database holds several devices, rows that name no device belong to the
-- first one.
WITH task AS NOT MATERIALIZED (
    SELECT *, TRY(endNs - startNs) AS duration_ns
    FROM raw.task
    WHERE getvariable('device_id') IS NULL OR coalesce(deviceId, getvariable('first_device_id')) = getvariable('device_id')
),
type AS (
    SELECT
        text_id AS taskType,
        text AS name,
        why_without_work(text) AS why,
        is_task_on_cores(text) AS is_on_cores,
        is_task_between_streams(text) AS is_between_streams,
        type_of_task(text) IN ('MEMCPY_ASYNC', 'PCIE_DMA') AS is_copy
    FROM trace.string
    WHERE text_id IN (SELECT taskType FROM raw.task)
),
traced_task AS (
    SELECT task.*, kernel.kernel_id, kernel.pmu_id IS NOT NULL AS is_described
    FROM task
    LEFT JOIN trace.kernel ON kernel.kernel_id = 2 * task.row_id
),
-- Summed up apart from the rest, which are few rows.
counted_kernel AS (
    SELECT taskType, is_described, count(*) AS row_count, sum(duration_ns) AS duration_ns
    FROM traced_task
    WHERE kernel_id IS NOT NULL
    GROUP BY taskType, is_described
),
not_kernel AS (
    SELECT
        traced_task.*,
        coalesce(type.name, 'task of unknown type') AS what,
        type.why,
        coalesce(type.is_on_cores, false) AS is_on_cores,
        coalesce(type.is_between_streams, false) AS is_between_streams,
        coalesce(type.is_copy, false) AS is_copy
    FROM traced_task
    LEFT JOIN type USING (taskType)
    WHERE kernel_id IS NULL
),
other AS (
    FROM not_kernel
    WHERE why IS NULL AND NOT is_copy AND endNs >= startNs
),
described_task AS (
    SELECT row_id
    FROM other
    SEMI JOIN (
        SELECT globalTaskId FROM raw.compute_task_info
        UNION ALL
        SELECT globalTaskId FROM raw.communication_schedule_task_info
    ) AS info USING (globalTaskId)
),
operator AS (
    SELECT startNs, max(max(endNs)) OVER (ORDER BY startNs) AS reached_ns
    FROM raw.communication_op
    WHERE endNs >= startNs
    GROUP BY startNs
),
part_of_operator AS (
    SELECT other.row_id
    FROM other
    SEMI JOIN (
        SELECT globalTaskId
        FROM raw.communication_task_info
        SEMI JOIN raw.communication_op USING (opId)
    ) AS info USING (globalTaskId)
    UNION
    SELECT other.row_id
    FROM other
    ASOF JOIN operator ON operator.startNs <= other.startNs
    WHERE other.startNs <= operator.reached_ns AND other.is_between_streams
    UNION
    SELECT other.row_id
    FROM other
    SEMI JOIN (SELECT connectionId FROM raw.communication_op WHERE connectionId <> -1) AS launch USING (connectionId)
),
-- Only of tasks without a place so far: of all others it takes 0.2 s of CPU more for a million kernels.
task_of_parts AS (
    SELECT row_id
    FROM (
        SELECT
            task.row_id,
            coalesce(task.contextId, 4294967295) = 4294967295 AND lead(task.endNs) OVER by_time <= task.endNs AS is_around_next
        FROM task
        SEMI JOIN (FROM other ANTI JOIN part_of_operator USING (row_id)) AS alone USING (streamId, taskId)
        WINDOW by_time AS (
            PARTITION BY task.deviceId, task.streamId, task.taskId ORDER BY task.startNs, task.endNs DESC, task.row_id
        )
    )
    WHERE is_around_next
),
placed_row AS (
    SELECT
        coalesce(type.name, 'task of unknown type') AS what,
        if(is_described, 'kernel', 'undescribed') AS place,
        NULL AS why,
        row_count,
        duration_ns
    FROM counted_kernel
    LEFT JOIN type USING (taskType)
    UNION ALL
    SELECT
        what,
        CASE
            WHEN why IS NOT NULL THEN 'no work'
            WHEN (endNs >= startNs) IS NOT TRUE THEN 'set aside'
            WHEN is_copy THEN 'copy'
            WHEN row_id IN (FROM part_of_operator) THEN 'communication'
            WHEN row_id IN (FROM task_of_parts) THEN 'around'
            -- A rule of trace.set_aside holds it back.
            WHEN is_on_cores OR row_id IN (FROM described_task) THEN 'set aside'
            ELSE 'missing'
        END,
        why,
        1,
        duration_ns
    FROM not_kernel
    UNION ALL
    SELECT
        'COMMUNICATION_OP',
        if(kernel.kernel_id IS NULL, 'set aside', 'kernel'),
        NULL,
        1,
        TRY(communication.endNs - communication.startNs)
    FROM raw.communication_op AS communication
    LEFT JOIN trace.kernel ON kernel.kernel_id = 2 * communication.row_id + 1
    WHERE getvariable('device_id') IS NULL
        OR coalesce(communication.deviceId, getvariable('first_device_id')) = getvariable('device_id')
)
SELECT
    what,
    place::ENUM('kernel', 'undescribed', 'copy', 'communication', 'around', 'no work', 'set aside', 'missing') AS place,
    CASE place
        WHEN 'undescribed' THEN 'no row of COMPUTE_TASK_INFO describes them'
        WHEN 'communication' THEN 'they are what communication operators are made of'
        WHEN 'around' THEN 'they are made of other tasks'
        WHEN 'no work' THEN 'they ' || why
        WHEN 'set aside' THEN 'their rows cannot be right'
        WHEN 'missing' THEN 'no row of COMPUTE_TASK_INFO or COMMUNICATION_OP tells what they do'
    END AS reason,
    sum(row_count)::BIGINT AS row_count,
    TRY_CAST(sum(duration_ns) AS BIGINT) AS duration_ns
FROM placed_row
GROUP BY what, place, why
ORDER BY place, what, reason
