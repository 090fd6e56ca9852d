-- PyTorch puts each collective in a range such as nccl:_all_gather_base. Without it, the calls of NCCL say what it is.
WITH name_of_collective AS (
    SELECT
        text_id AS name,
        operation_of_collective(regexp_extract(text, '^(?:nccl|gloo|c10d):([A-Za-z_]+)', 1), NULL) AS operation
    FROM raw.string
    WHERE text_id IN (SELECT name FROM raw.nvtx_range) AND role_of_annotation(text) = 'communication'
),
named_range AS (
    SELECT thread_id(pid, tid) AS thread, start_ns, end_ns, name_of_collective.operation
    FROM raw.nvtx_range
    JOIN name_of_collective USING (name)
    WHERE name_of_collective.operation NOT IN ('coalesced', 'group')
),
nccl_call AS (FROM raw.nccl_call),
batch AS (
    SELECT thread, start_ns, end_ns, operation
    FROM batches_of_nccl(nccl_call)
    WHERE operation IS NOT NULL
),
-- Not to be told from others by its name: it may be one.
asked_kernel AS (
    SELECT
        device_work.event_id AS kernel_id,
        thread_id(runtime_call.pid, runtime_call.tid) AS thread,
        runtime_call.start_ns,
        runtime_call.end_ns
    FROM raw.device_work
    JOIN raw.runtime_call USING (pid, correlation)
    LEFT JOIN trace.kernel_family AS family ON family.name_id = device_work.name
    WHERE device_work.is_kernel
        AND coalesce(family.kind = 'communication', true)
        AND (EXISTS (FROM named_range) OR EXISTS (FROM batch))
),
of_range AS (FROM collectives_around(asked_kernel, named_range)),
of_batch AS (FROM collectives_around(asked_kernel, batch))
FROM of_range
UNION ALL
FROM of_batch
ANTI JOIN of_range USING (kernel_id)
