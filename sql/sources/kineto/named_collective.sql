-- PyTorch puts each collective in a range such as nccl:_all_gather_base. A range of several at once names none of them.
WITH name_of_collective AS (
    SELECT
        text_id AS name,
        operation_of_collective(regexp_extract(text, '^(?:nccl|gloo|c10d):([A-Za-z_]+)', 1), NULL) AS operation
    FROM raw.string
    WHERE text_id IN (SELECT name FROM raw.annotation) AND role_of_annotation(text) = 'communication'
),
named_range AS (
    SELECT
        thread_id(annotation.pid, annotation.tid) AS thread,
        annotation.start_ns,
        annotation.end_ns,
        name_of_collective.operation
    FROM raw.annotation
    JOIN name_of_collective USING (name)
    WHERE name_of_collective.operation NOT IN ('coalesced', 'group')
),
asked_kernel AS (
    SELECT
        device_work.event_id AS kernel_id,
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
      AND EXISTS (FROM named_range)
)
FROM collectives_around(asked_kernel, named_range)
