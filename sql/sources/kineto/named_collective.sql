-- PyTorch puts each collective in a range such as nccl:_all_gather_base. A range of several at once names none of them.
WITH name_of_collective AS (
    SELECT
        text_id AS name,
        operation_of_collective(regexp_extract(text, '^(?:nccl|gloo|c10d):([A-Za-z_]+)', 1), NULL) AS operation
    FROM raw.string
    WHERE text_id IN (SELECT name FROM raw.annotation) AND role_of_annotation(text) = 'communication'
),
host_range AS (
    SELECT
        thread_id(annotation.pid, annotation.tid) AS thread,
        annotation.start_ns,
        min((annotation.end_ns, name_of_collective.operation)) AS inner_range
    FROM raw.annotation
    JOIN name_of_collective USING (name)
    WHERE name_of_collective.operation NOT IN ('coalesced', 'group')
    GROUP BY thread, annotation.start_ns
),
launch AS (
    SELECT
        device_work.event_id,
        thread_id(runtime_call.pid, runtime_call.tid) AS thread,
        runtime_call.start_ns,
        runtime_call.end_ns
    FROM raw.device_work
    JOIN raw.runtime_call USING (correlation)
    LEFT JOIN trace.kernel_family AS family ON family.name_id = device_work.name
    WHERE device_work.correlation <> 0
      AND device_work.is_kernel
      -- Of a kernel whose name says nothing, the range alone says that it is one.
      AND coalesce(family.kind = 'communication', true)
      AND EXISTS (FROM host_range)
)
SELECT launch.event_id AS kernel_id, min(host_range.inner_range[2]) AS operation
FROM launch
ASOF JOIN host_range ON host_range.thread = launch.thread AND host_range.start_ns <= launch.start_ns
WHERE host_range.inner_range[1] >= launch.end_ns
GROUP BY launch.event_id
HAVING count(DISTINCT host_range.inner_range[2]) = 1
