-- One row is a call of a compiled graph with its phases on the host, in the order of time. Front end + TorchAir (Python + C++)
-- + graph engine up to the end of the inference = the whole call.
--
-- start_ns               BIGINT   when the module was entered, Unix ns; the start of the inference where nothing marks the
--                                 entry
-- tid                    BIGINT   host thread: process id * 2^32 + thread id
-- name_id                TEXT_ID  what marks the inference, such as npu_fx_compiler inference
-- region_id              TEXT_ID  the compiled region, such as Torch-Compiled Region: 0/0; NULL where none is recorded
-- is_compiling           BOOLEAN  true for a first call, which compiles; false for a replay
-- call_ns                BIGINT   the whole call, from the entry to the end of the inference, ns; NULL where nothing marks the
--                                 entry
-- front_end_ns           BIGINT   from the entry to the start of the inference, ns; NULL where nothing marks the entry
-- entry_from             VARCHAR  what marks the entry: frame, region or look-up; NULL where nothing does
-- lookup_ns              BIGINT   Dynamo's look-up of its cache, guards included, ns; before the entry where a region marks the
--                                 entry; NULL where none is recorded
-- before_lookup_ns       BIGINT   from the entry to the look-up: work of vLLM or MindIE, ns; NULL where either is not known
-- inference_ns           BIGINT   TorchAir and graph engine, ns
-- torchair_ns            BIGINT   from the start of the inference to ExecuteGraph, ns; NULL without ExecuteGraph
-- torchair_python_ns     BIGINT   part of torchair_ns up to TorchNpuGraphBase::Run, ns; NULL without TorchNpuGraphBase::Run
-- torchair_cpp_ns        BIGINT   part of torchair_ns from TorchNpuGraphBase::Run on, ns; NULL without TorchNpuGraphBase::Run
--                                 or ExecuteGraph
-- ge_to_end_ns           BIGINT   graph engine from ExecuteGraph to the end of the inference, ns; NULL without ExecuteGraph
-- ge_to_first_kernel_ns  BIGINT   graph engine from ExecuteGraph to the first kernel on the device, ns; a part of ge_to_end_ns,
--                                 so not a term of the sum; NULL where no kernel is known to be launched by the call
-- @columns creation_count to clone_ns as in graph.preparation
-- other_op_count         BIGINT   other aten ops
-- other_op_ns            BIGINT   their time, ns
-- reason                 VARCHAR  why something is NULL; NULL where nothing is
WITH entered_call AS (
    SELECT
        call.*,
        entry.*  EXCLUDE (call_id),
        execution.* EXCLUDE (call_id),
        coalesce(frame_ns, region_ns, entry.lookup_ns) AS entry_ns
    FROM graph.inference AS call
    JOIN graph.entry USING (call_id)
    LEFT JOIN graph.execution USING (call_id)
)
SELECT
    coalesce(entry_ns, start_ns) AS start_ns,
    tid,
    name_id,
    region_id,
    is_compiling,
    end_ns - entry_ns AS call_ns,
    start_ns - entry_ns AS front_end_ns,
    CASE
        WHEN frame_ns IS NOT NULL THEN 'frame'
        WHEN region_ns IS NOT NULL THEN 'region'
        WHEN entered_call.lookup_ns IS NOT NULL THEN 'look-up'
    END AS entry_from,
    lookup_end_ns - entered_call.lookup_ns AS lookup_ns,
    if(entered_call.lookup_ns >= entry_ns, entered_call.lookup_ns - entry_ns, NULL) AS before_lookup_ns,
    end_ns - start_ns AS inference_ns,
    execute_ns - start_ns AS torchair_ns,
    run_ns - start_ns AS torchair_python_ns,
    execute_ns - run_ns AS torchair_cpp_ns,
    end_ns - execute_ns AS ge_to_end_ns,
    first_kernel_ns - execute_ns AS ge_to_first_kernel_ns,
    coalesce(creation_count, 0) AS creation_count,
    coalesce(creation_ns, 0) AS creation_ns,
    coalesce(contiguous_count, 0) AS contiguous_count,
    coalesce(contiguous_ns, 0) AS contiguous_ns,
    coalesce(clone_count, 0) AS clone_count,
    coalesce(clone_ns, 0) AS clone_ns,
    coalesce(other_count, 0) AS other_op_count,
    coalesce(other_ns, 0) AS other_op_ns,
    nullif(
        concat_ws(
            '; ',
            if(entry_ns IS NULL, 'nothing marks where the module was entered: no stack, no region, no look-up', NULL),
            if(region_id IS NULL, 'no region is recorded', NULL),
            if(entered_call.lookup_ns IS NULL, 'no look-up of Dynamo is recorded', NULL),
            if(entered_call.lookup_ns < entry_ns, 'the look-up is before the entry', NULL),
            -- Knows executegraph, torchnpugraphbase: TorchAir compiles graphs on this hardware alone.
            if(run_ns IS NULL, 'no TorchNpuGraphBase::Run in it', NULL),
            if(execute_ns IS NULL, 'no ExecuteGraph in it', NULL),
            if(execute_ns IS NOT NULL AND first_kernel_ns IS NULL, 'no kernel is known to be launched by it', NULL)
        ),
        ''
    ) AS reason
FROM entered_call
LEFT JOIN graph.preparation USING (call_id)
ORDER BY start_ns, tid, call_id
