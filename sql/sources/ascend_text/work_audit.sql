-- Tasks are events of trace_view.json; kernel_details.csv can have kernels beside them. The name of a task tells more than its
-- type: a copy is MEMCPY_ASYNC of type PCIE_DMA_SQE or SDMA_SQE. What one of them tells is enough. Work of communication
-- operators begins while one runs.
WITH type AS (
    SELECT
        text_id,
        why_without_work(text) AS why,
        is_task_between_streams(text) OR lower(text) = 'other' AS may_be_of_operator,
        regexp_matches(text, '^MEMCPY_ASYNC|^Memco?py') AS is_copy
    FROM trace.string
    WHERE text_id IN (SELECT name FROM raw.device_task UNION SELECT task_type FROM raw.device_task)
),
operator AS (
    SELECT start_ns, max(max(end_ns)) OVER (ORDER BY start_ns) AS reached_ns
    FROM trace.kernel
    WHERE kind = 'communication'
    GROUP BY start_ns
),
task AS (
    SELECT
        device_task.event_id,
        coalesce(type_name.text, name.text, 'task of unknown type') AS what,
        coalesce(of_name.why, of_type.why) AS why,
        coalesce(of_name.is_copy, false) OR coalesce(of_type.is_copy, false) AS is_copy,
        coalesce(of_name.may_be_of_operator, false) OR coalesce(of_type.may_be_of_operator, false) AS may_be_of_operator,
        (device_task.end_ns >= device_task.start_ns) IS NOT TRUE AS has_no_time,
        TRY(device_task.end_ns - device_task.start_ns) AS duration_ns,
        device_task.start_ns,
        kernel.kind,
        kernel.pmu_id
    FROM raw.device_task
    LEFT JOIN trace.kernel ON kernel.kernel_id = device_task.event_id
    LEFT JOIN type AS of_name ON of_name.text_id = device_task.name
    LEFT JOIN type AS of_type ON of_type.text_id = device_task.task_type
    LEFT JOIN trace.string AS name ON name.text_id = device_task.name
    LEFT JOIN trace.string AS type_name ON type_name.text_id = device_task.task_type
),
part_of_operator AS (
    SELECT task.event_id
    FROM task
    ASOF JOIN operator ON operator.start_ns <= task.start_ns
    WHERE task.kind IS NULL AND task.may_be_of_operator AND task.start_ns <= operator.reached_ns
),
placed_row AS (
    SELECT
        what,
        CASE
            WHEN kind = 'compute' AND pmu_id IS NULL AND EXISTS (FROM raw.kernel_detail) THEN 'undescribed'
            WHEN kind IS NOT NULL THEN 'kernel'
            WHEN why IS NOT NULL THEN 'no work'
            WHEN has_no_time THEN 'set aside'
            WHEN is_copy THEN 'copy'
            WHEN event_id IN (FROM part_of_operator) THEN 'communication'
            ELSE 'missing'
        END AS place,
        why,
        duration_ns
    FROM task
    UNION ALL
    SELECT
        'communication operator',
        if(kernel.kernel_id IS NULL, 'set aside', 'kernel'),
        NULL,
        TRY(communication_op.end_ns - communication_op.start_ns)
    FROM raw.communication_op
    LEFT JOIN trace.kernel ON kernel.kernel_id = communication_op.event_id
    UNION ALL
    SELECT 'kernel_details.csv', 'kernel', NULL, duration_ns
    FROM trace.kernel
    WHERE kernel_id < 0
)
SELECT
    what,
    place::ENUM('kernel', 'undescribed', 'copy', 'communication', 'around', 'no work', 'set aside', 'missing') AS place,
    CASE place
        WHEN 'undescribed' THEN 'kernel_details.csv has no row of them'
        WHEN 'communication' THEN 'they are what communication operators are made of'
        WHEN 'no work' THEN 'they ' || why
        WHEN 'set aside' THEN 'their rows cannot be right'
        WHEN 'missing' THEN 'neither their names and types nor kernel_details.csv tell what they do'
    END AS reason,
    count(*) AS row_count,
    TRY_CAST(sum(duration_ns) AS BIGINT) AS duration_ns
FROM placed_row
GROUP BY ALL
ORDER BY place, what, reason
