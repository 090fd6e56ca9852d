-- Where something begins in the text of an NVTX range that torch.autograd.profiler.emit_nvtx appends to a name, such as
-- `, seq = 45440, op_id = 990760, sizes = [[2, 8], []], input_op_ids = [(990759,0), (0,-1)]`; NULL where it does not. Each of a
-- million ops has a text of its own: to find the places once and to cut there takes half the time of splitting.
CREATE MACRO IF NOT EXISTS place_in_nvtx(text, mark) AS nullif(instr(text, mark), 0);

-- The name in the text of an NVTX range: what emit_nvtx appends is no part of it.
CREATE MACRO IF NOT EXISTS name_of_nvtx(text, seq_at, op_at, sizes_at) AS
    coalesce(left(text, coalesce(least(seq_at, op_at), sizes_at) - 1), text);

-- Whether the text of an NVTX range is that of an op: emit_nvtx appended to it, and it is no range of record_function with a
-- domain before its colon, nor a step.
CREATE MACRO IF NOT EXISTS is_op_of_nvtx(text, seq_at, op_at, sizes_at) AS
    CASE
        WHEN coalesce(seq_at, op_at, sizes_at) IS NULL OR is_name_of_step(text) THEN false
        ELSE instr(text, ':') < 2 OR substring(text, instr(text, ':') + 1, 1) IN (':', '')
    END;

-- Autograd's sequence number in the text of an NVTX range.
CREATE MACRO IF NOT EXISTS sequence_of_nvtx(text, seq_at) AS
    CASE WHEN seq_at IS NOT NULL THEN TRY_CAST(split_part(substring(text, seq_at + 8, 20), ',', 1) AS BIGINT) END;

-- The sizes of inputs in the text of an NVTX range, as they are written there; NULL without.
CREATE MACRO IF NOT EXISTS sizes_of_nvtx(text, sizes_at) AS
    CASE
        WHEN sizes_at IS NOT NULL THEN nullif(split_part(substring(text, sizes_at + 10), ', input_op_ids = ', 1), '')
    END;

-- The name of an NVTX domain of a process; NULL for the default one. The variable has the names that are recorded. The library
-- of collectives has a domain of its own.
CREATE MACRO IF NOT EXISTS domain_of_nvtx(domain_id, process, text) AS
    CASE
        WHEN domain_id <> 0
            THEN coalesce(
                getvariable('nvtx_domains')[concat(process, '/', domain_id)],
                if(regexp_matches(text, '^nccl[A-Z]'), 'NCCL', 'domain ' || domain_id)
            )
    END;

-- The name of a call of CUDA without the version that Nsight Systems appends: cudaLaunchKernel for cudaLaunchKernel_v7000.
CREATE MACRO IF NOT EXISTS name_of_cuda_call(text) AS regexp_replace(text, '_v\d{4,5}$', '');

-- Names of copies and fills as CUDA's own profiling interface gives them to other tools. The numbers are those of the tables
-- ENUM_CUDA_MEMCPY_OPER and ENUM_CUDA_MEM_KIND.
CREATE MACRO IF NOT EXISTS name_of_memory(kind) AS
    ['Pageable', 'Pinned', 'Device', 'Array', 'Managed', 'Device Static', 'Managed Static', 'Unknown'][kind + 1];

CREATE MACRO IF NOT EXISTS name_of_copy(operation, from_memory, to_memory) AS
    'Memcpy'
    || coalesce(
        ' '
        || [
            'Unknown', 'HtoD', 'DtoH', 'HtoA', 'AtoH', 'AtoA', 'AtoD', 'DtoA', 'DtoD', 'HtoH', 'PtoP', 'HtoD', 'DtoH', 'DtoD'
        ][operation + 1],
        ''
    )
    || coalesce(format(' ({} -> {})', name_of_memory(from_memory), name_of_memory(to_memory)), '');

CREATE MACRO IF NOT EXISTS name_of_fill(memory) AS format('Memset ({})', coalesce(name_of_memory(memory), 'Unknown'));

-- A clock in MHz. Nsight Systems names its metric [MHz] and writes Hz, as 32 bits with a sign: below 0 from 2.15 GHz on.
CREATE MACRO IF NOT EXISTS mhz_of_metric(value) AS
    CASE
        WHEN value BETWEEN -2147483648 AND -1 THEN (value + 4294967296 + 500000) // 1000000
        WHEN value >= 100000 THEN (value + 500000) // 1000000
        ELSE value
    END;

-- Whether CUDA's kind of memory is memory of the device, also of arrays and of variables of the program. Memory of the host,
-- and managed memory, which moves between both, are not. The numbers are those of the table ENUM_CUDA_MEM_KIND.
CREATE MACRO IF NOT EXISTS is_memory_of_device(kind) AS coalesce(kind IN (2, 3, 5), true);

-- The name of a replay of a graph whose kernels are not recorded one by one.
CREATE MACRO IF NOT EXISTS name_of_graph(graph_id) AS 'CUDA graph' || coalesce(' ' || graph_id, '');

-- A whole number in bytes, the lowest first, which begins after so many of them; NULL beyond their end.
CREATE MACRO IF NOT EXISTS number_in_bytes(content, before, width) AS
    TRY_CAST(
        '0x' || array_to_string(list_reverse(regexp_extract_all(hex(content[before + 1:before + width]), '..')), '') AS UBIGINT
    );

-- The numbers in a payload of an NVTX range as a JSON object; NULL without. The variable says where they lie, by domain and
-- schema. 32 bytes are in front of the payload, with its domain, schema and size.
CREATE MACRO IF NOT EXISTS payload_of_nvtx(content) AS
    nullif(
        to_json(
            map_from_entries(
                list_transform(
                    list_filter(
                        getvariable('nvtx_schemas')[
                            concat(number_in_bytes(content, 0, 4), '/', number_in_bytes(content, 8, 4))
                        ],
                        lambda entry: number_in_bytes(content, 16, 8) = entry.payload_bytes
                            AND octet_length(content) >= 32 + entry.payload_bytes
                    ),
                    lambda entry: (entry.name, number_in_bytes(content, 32 + entry.begin, entry.width))
                )
            )
        )::VARCHAR,
        '{}'
    );

-- A value of the payload of an NVTX range, which is a JSON object.
CREATE MACRO IF NOT EXISTS text_of_payload(payload, key) AS
    if(json_valid(payload), json_extract_string(payload, format('$."{}"', key)), NULL);

CREATE MACRO IF NOT EXISTS number_of_payload(payload, key) AS TRY_CAST(text_of_payload(payload, key) AS BIGINT);

-- The full name of the module that a range names: that in `{'Module': 'model.layers.0.mlp', ...}`, which hooks of vLLM, SGLang
-- and TensorRT-LLM write, or that in `FSDP::pre_forward (blocks.3)`; without the names of wrappers. NULL for other names.
CREATE MACRO IF NOT EXISTS module_in_nvtx(name) AS
    nullif(
        regexp_replace(
            regexp_extract(name, '^(?:\{''Module'': ''|FSDP::(?:pre|post)_forward \()([^'')]*)', 1),
            '\.?_(checkpoint_wrapped_module|fsdp_wrapped_module|orig_mod)\b',
            '',
            'g'
        ),
        ''
    );

-- The last name in the full name of a module, with the numbers behind it left out: layers for model.layers.0.
CREATE MACRO IF NOT EXISTS last_name_of_module(full_name) AS
    coalesce(nullif(regexp_extract(full_name, '([^.]+?)(?:\.\d+)*$', 1), ''), full_name);

-- The number of a step in the name of a range: of torch.profiler, or a user's own such as step 7, iteration_7, train_step#7.
CREATE MACRO IF NOT EXISTS number_of_step(name) AS
    TRY_CAST(
        nullif(
            regexp_extract(
                name, '(?i)^(?:ProfilerStep#|(?:train(?:ing)?[ _-]?)?(?:step|iter(?:ation)?)[ _#:=-]*)(\d+)$', 1
            ),
            ''
        ) AS BIGINT
    );

-- One number for a process and a correlation in it, which links work on the device to its launch.
CREATE MACRO IF NOT EXISTS launch_of(pid, correlation) AS thread_id(pid, correlation);

-- The operation of a call of NCCL that moves data: allreduce for ncclAllReduce; NULL for others.
CREATE MACRO IF NOT EXISTS operation_of_nccl_call(name) AS
    CASE
        WHEN name = 'ncclBcast' THEN 'broadcast'
        WHEN regexp_matches(name, '^nccl(All(Reduce|Gather|ToAllv?)|ReduceScatter|Broadcast|Reduce|Send|Recv|Gather|Scatter)$')
            THEN operation_of_collective(substring(name, 5), NULL)
    END;

-- The calls of NCCL that launch together, and from when to when they can launch: a call by itself, or all calls of a group, at
-- its end. `calls` is the name of a CTE of raw.nccl_call. Where they move data in several ways or in several communicators, the
-- operation or the communicator is NULL; sends and receives together are sendrecv, of which those count that move more bytes.
-- `call_operation` is that of which size_bytes are.
CREATE MACRO IF NOT EXISTS batches_of_nccl(calls) AS TABLE
    WITH turn_of_nccl AS (
        SELECT
            *,
            thread_id(pid, tid) AS thread,
            operation_of_nccl_call(name) AS operation,
            CASE name WHEN 'ncclGroupStart' THEN 1 WHEN 'ncclGroupEnd' THEN -1 ELSE 0 END AS turn
        FROM query_table(calls)
        WHERE name IN ('ncclGroupStart', 'ncclGroupEnd') OR operation_of_nccl_call(name) IS NOT NULL
    ),
    summed_turn AS (
        SELECT *, sum(turn) OVER (PARTITION BY thread ORDER BY start_ns, event_id) AS height
        FROM turn_of_nccl
    ),
    -- The recording may begin in a group.
    levelled_turn AS (
        SELECT *, height - least(min(height) OVER (PARTITION BY thread ORDER BY start_ns, event_id), 0) AS depth
        FROM summed_turn
    ),
    numbered_turn AS (
        SELECT
            *,
            depth = 0 AS is_last,
            coalesce(
                sum((depth = 0)::INTEGER) OVER (
                    PARTITION BY thread ORDER BY start_ns, event_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ),
                0
            ) AS batch
        FROM levelled_turn
    ),
    batch_of_turns AS (
        SELECT
            thread,
            max(start_ns) FILTER (is_last) AS start_ns,
            max(end_ns) FILTER (is_last) AS end_ns,
            list_sort(list(DISTINCT operation) FILTER (operation IS NOT NULL)) AS operations,
            if(count(DISTINCT communicator) = 1, min(communicator), NULL) AS communicator,
            sum(size_bytes) FILTER (operation = 'send') AS sent_bytes,
            sum(size_bytes) FILTER (operation <> 'send') AS other_bytes
        FROM numbered_turn
        GROUP BY thread, batch
    )
    SELECT
        thread,
        start_ns,
        end_ns,
        CASE
            WHEN len(operations) = 1 THEN operations[1]
            WHEN operations = ['receive', 'send'] THEN 'sendrecv'
        END AS operation,
        operation AS call_operation,
        communicator,
        if(operation IS NULL, NULL, greatest(sent_bytes, other_bytes))::BIGINT AS size_bytes
    FROM batch_of_turns
    WHERE start_ns IS NOT NULL;
