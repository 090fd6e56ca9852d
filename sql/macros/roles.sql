-- The operation in the type of a communication operator: allreduce in hcom_allReduce_.
CREATE MACRO IF NOT EXISTS operation_of_communication(type) AS lower(regexp_extract(type, '(?i)^(?:hcom_)?([a-z]+)', 1));

-- The name of a communication operator without the full name of its group, which a few versions append after @.
CREATE MACRO IF NOT EXISTS name_without_group(name) AS regexp_replace(name, '(?s)@.*$', '');

-- The direction in which a communication operator between two ranks transfers, by its name.
CREATE MACRO IF NOT EXISTS direction_of_communication(name) AS
    CASE lower(regexp_extract(name, '(?i)^hcom_(send|receive|batchsendrecv)', 1))
        WHEN 'send' THEN 'send'
        WHEN 'receive' THEN 'receive'
        WHEN 'batchsendrecv' THEN 'both'
    END;

-- The type of a task on the device in one spelling: chips and versions write Notify Wait, Notify_Wait and NOTIFY_WAIT_SQE.
CREATE MACRO IF NOT EXISTS type_of_task(type) AS regexp_replace(replace(upper(trim(type)), ' ', '_'), '_SQE$', '');

-- The role of a task of a communication operator, by its type.
CREATE MACRO IF NOT EXISTS role_of_communication_task(type) AS
    CASE
        WHEN type_of_task(type) IN ('', 'N/A', 'NULL') THEN NULL
        WHEN regexp_full_match(type_of_task(type), 'MEMCPY(_ASYNC)?|SDMA|PCIE_DMA|REDUCE_(INLINE|ASYNC(_V\d+)?)')
            THEN 'transfer'
        WHEN type_of_task(type) = 'NOTIFY_WAIT' THEN 'wait'
        WHEN type IS NOT NULL THEN 'other'
    END;

-- Whether a stream of a communication operator holds tasks of this type: it copies, reduces, and tells other streams.
CREATE MACRO IF NOT EXISTS is_task_between_streams(type) AS
    regexp_matches(type_of_task(type), '^(NOTIFY|EVENT|MEMCPY|REDUCE|SDMA|RDMA|PCIE_DMA|WRITE_VALUE|PLACE_HOLDER)');

-- Why a task of this type does no work of the model on the device, in words that follow "they"; NULL where it does, and where
-- the type is not known. This list is the whole of it: all other tasks are work, which is missing where no answer holds it.
CREATE MACRO IF NOT EXISTS why_without_work(type) AS
    CASE
        WHEN regexp_matches(
            type_of_task(type), '^((REMOTE_)?EVENT|NOTIFY|CAPTURE|(MEM_)?(WRITE|WAIT)_VALUE|STREAM_WAIT|BARRIER)(_|$)'
        ) THEN 'mark a moment or wait for one'
        WHEN regexp_matches(type_of_task(type), '^(PROFILING|PROFILER|PCTRACE|MSTX)(_|$)') THEN 'are the profiler''s own'
        WHEN regexp_matches(type_of_task(type), '^PLACE_?HOLDER(_|$)') THEN 'hold a place for other tasks'
        WHEN regexp_matches(
            type_of_task(type),
            '^(MODEL|STREAM|LABEL|END_GRAPH|CREATE|MAINTENANCE|CALLBACK|HOSTFUNC|TIMEOUT|DATA_?DUMP|DEVICE_RINGBUFFER)(_|$)'
        ) THEN 'steer streams and graphs'
        WHEN regexp_matches(type_of_task(type), '^(CMO|LOAD_CONTEXT|((INVALIDATE|WRITEBACK)_)?DATA_CONTEXT)(_|$)')
            THEN 'prepare caches'
    END;

-- Whether a task of this type does no work of the model.
CREATE MACRO IF NOT EXISTS is_task_without_work(type) AS why_without_work(type) IS NOT NULL;

-- Whether a task of this type runs on the cores that compute; CPUs of the device compute too, but also serve communication.
CREATE MACRO IF NOT EXISTS is_task_on_cores(type) AS
    regexp_matches(type_of_task(type), '^(KERNEL_|AI_?CORE|AI_?VEC|AIC|AIV|MIX_AI|DSA)') AND NOT contains(upper(type), 'CPU');

-- The bytes of an element of a data type, in the words of HCCL.
CREATE MACRO IF NOT EXISTS bytes_of_data_type(data_type) AS
    CASE
        WHEN data_type IN ('INT8', 'UINT8', 'HIF8', 'FP8E4M3', 'FP8E5M2', 'FP8E8M0') THEN 1
        WHEN data_type IN ('INT16', 'UINT16', 'FP16', 'BFP16') THEN 2
        WHEN data_type IN ('INT32', 'UINT32', 'FP32') THEN 4
        WHEN data_type IN ('INT64', 'UINT64', 'FP64') THEN 8
        WHEN data_type = 'INT128' THEN 16
    END;

-- The bytes that a rank has before or after a communication operator, whichever is more, from the elements that it was called
-- with: of an all-gather those that each rank sends, of a reduce-scatter those that each receives. Where each rank may send
-- another number of elements, none of them says how many.
CREATE MACRO IF NOT EXISTS bytes_of_communication(operation, elements, element_bytes, ranks) AS
    CASE
        WHEN elements < 0 THEN NULL
        WHEN operation IN ('allreduce', 'broadcast', 'reduce', 'send', 'receive') THEN TRY(elements * element_bytes)
        WHEN operation IN ('allgather', 'reducescatter', 'scatter', 'alltoall') THEN TRY(elements * element_bytes * ranks)
    END;

-- Whether a transfer stays within the device. Writers before 2024 name no link: then it does where no other rank is named.
CREATE MACRO IF NOT EXISTS is_within_device(link, source_rank, destination_rank) AS
    coalesce(link = 'ON_CHIP', coalesce(destination_rank, source_rank) IS NOT DISTINCT FROM source_rank);

-- The engine that computes on the cores of a kernel.
CREATE MACRO IF NOT EXISTS engine_of_cores(core) AS
    CASE
        WHEN core = 'AI_CORE' THEN 'matrix'
        WHEN core = 'MIX_AIC' THEN 'matrix and vector'
        WHEN core IN ('AI_VECTOR_CORE', 'MIX_AIV') THEN 'vector'
        WHEN core IN ('AI_CPU', 'HOST_CPU') THEN 'cpu'
    END;

-- Whether a name is that of a profiler step: torch_npu wraps steps in ops, and since 2026 also in mstx ranges of the domain
-- `default`.
CREATE MACRO IF NOT EXISTS is_name_of_step(name) AS starts_with(name, 'ProfilerStep#');

-- Whether an op loads data, by its name: PyTorch itself names its loader so, on any device.
CREATE MACRO IF NOT EXISTS loads_data(name) AS starts_with(name, 'enumerate(DataLoader)');

-- The role of an mstx mark or range that torch_npu itself records; it writes communication operators as JSON.
CREATE MACRO IF NOT EXISTS role_of_mark(message, domain) AS
    CASE
        WHEN domain = 'mfu_flops' THEN 'flops'
        WHEN domain = 'flash_attn_args' THEN 'attention'
        WHEN regexp_matches(message, '^\{\s*"(streamId|count|dataType|srcRank|destRank|groupName|opName)"') THEN 'communication'
        WHEN message = 'dataloader' THEN 'data loading'
        WHEN message = 'save_checkpoint' THEN 'checkpoint'
        WHEN is_name_of_step(message) THEN 'step'
    END;

-- The role of a call into CANN; NULL for operators (aclnn...), whose launches are calls inside them.
CREATE MACRO IF NOT EXISTS role_of_host_call(name) AS
    CASE
        WHEN contains(name, 'Synchronize') THEN 'synchronise'
        WHEN regexp_matches(name, '(?i)^(acl)?(op)?compile|AndExecute$') THEN 'compile'
        WHEN regexp_matches(name, '(?i)mem_?co?py') THEN 'copy'
        WHEN regexp_matches(name, '(?i)malloc|^(aclrt|rt)?(dev|host|mem)?free') THEN 'allocate'
        WHEN regexp_matches(name, '(?i)launch') THEN 'launch'
    END;

-- Whether a call orders a stream to wait for an event, by its name.
CREATE MACRO IF NOT EXISTS orders_stream_to_wait(name) AS contains(name, 'StreamWaitEvent');

-- Whether in a task a stream waits for an event or a notification, by its type: EVENT_WAIT, Notify Wait, ...
CREATE MACRO IF NOT EXISTS is_wait_of_stream(type) AS regexp_matches(type, '(?i)^(event|notify)[_ ]?wait');

-- The direction of a copy of memory, in the words of CANN: those for 8 bytes end with ex, those by an address begin with addr.
CREATE MACRO IF NOT EXISTS direction_of_memory_copy(operation) AS
    CASE regexp_replace(lower(trim(operation)), '^addr | ex$', '', 'g')
        WHEN 'host to device' THEN 'host to device'
        WHEN 'device to host' THEN 'device to host'
        WHEN 'device to device' THEN 'device to device'
        WHEN 'host to host' THEN 'host to host'
        WHEN 'other' THEN 'other'
        WHEN 'managed memory' THEN 'other'
    END;

-- Whether an operator of CANN multiplies groups of rows, by its type: GroupedMatmul, GroupedMatmulSwigluQuantV2,
-- QuantGroupedMatmulDequant, GroupedMatmulFinalizeRouting, ...
CREATE MACRO IF NOT EXISTS is_name_of_grouped_matmul(type) AS contains(replace(lower(type), '_', ''), 'groupedmatmul');

-- The rows of trace.grouped_matmul, where the type of a kernel says it. `kernels` and `strings` are the names of CTEs of
-- trace.kernel and trace.string.
CREATE MACRO IF NOT EXISTS grouped_matmuls(kernels, strings) AS TABLE
    WITH grouped_type AS (
        SELECT text_id AS type_id
        FROM query_table(strings)
        WHERE is_name_of_grouped_matmul(text)
    )
    SELECT kernel_id
    FROM query_table(kernels)
    SEMI JOIN grouped_type USING (type_id)
    WHERE kind = 'compute';

-- The role of a kernel for experts beside grouped matmuls, by its type or name; NULL for all others. Fused ones exchange rows,
-- multiply, and exchange the results (DispatchFFNCombine, DispatchGmmCombineDecode). Those that send rows or gather results are
-- those of CANN (MoeDistributeDispatchV2) and of DeepEP (deep_ep::internode::dispatch).
CREATE MACRO IF NOT EXISTS work_for_experts(type) AS
    CASE
        WHEN regexp_matches(lower(type), 'dispatch_?(ffn|gmm|grouped|mlp|expert).*combine|(fused|mega)_?(deep_?)?moe')
            THEN 'fused'
        WHEN regexp_matches(lower(type), 'moe_?(distribute_?)?dispatch|ep::.*\bdispatch') THEN 'dispatch'
        WHEN regexp_matches(lower(type), 'moe_?(distribute_?)?combine|ep::.*\bcombine') THEN 'combine'
    END;

-- Whether a compute kernel of this type communicates too, as its name says: fused products and the routing of experts.
CREATE MACRO IF NOT EXISTS may_communicate(type) AS
    coalesce(regexp_matches(lower(type), 'all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|dispatch|combine'), false);
