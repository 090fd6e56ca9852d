-- What NCCL says of its calls, where the payload of its ranges is in the file.
WITH nccl_call AS (FROM raw.nccl_call),
communicator AS (
    SELECT communicator, max(rank_count) AS rank_count
    FROM raw.nccl_call
    WHERE rank_count > 0
    GROUP BY communicator
),
batch AS (
    SELECT batch.*, communicator.rank_count
    FROM batches_of_nccl(nccl_call) AS batch
    LEFT JOIN communicator USING (communicator)
),
last_batch AS (
    SELECT
        thread,
        start_ns,
        max(end_ns) AS end_ns,
        min(communicator) AS communicator,
        min(call_operation) AS call_operation,
        min(size_bytes) AS size_bytes,
        min(rank_count) AS rank_count
    FROM batch
    GROUP BY thread, start_ns
),
asked_kernel AS (
    SELECT
        kernel.kernel_id,
        last_batch.communicator,
        last_batch.call_operation,
        last_batch.rank_count,
        -- Several kernels of one group share its bytes in a way that is not known.
        if(count(*) OVER (PARTITION BY launch.tid, last_batch.start_ns) = 1, last_batch.size_bytes, NULL) AS size_bytes
    FROM trace.kernel
    JOIN trace.launch USING (launch_id)
    ASOF JOIN last_batch ON last_batch.thread = launch.tid AND last_batch.start_ns <= launch.start_ns
    WHERE kernel.kind = 'communication' AND last_batch.end_ns >= launch.end_ns
)
SELECT
    kernel.kernel_id,
    name.text AS short_name,
    coalesce(named_collective.operation, operation_of_collective(NULL, name.text)) AS operator_type,
    operator_type AS operation,
    text_id(asked_kernel.communicator) AS group_name_id,
    NULL::BIGINT AS algorithm_id,
    NULL::VARCHAR AS data_type,
    NULL::BIGINT AS element_count,
    -- NCCL gives the bytes that each rank sends, of a reduce-scatter those that each receives.
    CASE
        WHEN asked_kernel.call_operation IN ('allgather', 'reducescatter', 'gather', 'scatter', 'alltoall')
            THEN TRY(asked_kernel.size_bytes * asked_kernel.rank_count)
        ELSE asked_kernel.size_bytes
    END AS size_bytes,
    asked_kernel.rank_count AS group_size
FROM trace.kernel
LEFT JOIN trace.named_collective USING (kernel_id)
LEFT JOIN asked_kernel USING (kernel_id)
LEFT JOIN trace.string AS name ON name.text_id = kernel.name_id
WHERE kernel.kind = 'communication'
