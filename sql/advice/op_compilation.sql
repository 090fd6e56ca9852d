-- One row is a module and op of a rank that is compiled while the device is idle, or a rank whose launches load code meanwhile.
--
-- @title (is_loading) Launches load code or set up communication
-- @title The device waits for ops to be compiled
-- @evidence (is_loading) In {count|a gap|gaps} the device is idle for {time_ns} in launches that take 1 ms or more each,
--     {longest_ns} of it in {longest_op}
-- @evidence In {count|a gap|gaps} the device is idle for {time_ns} while the host is in {call}: {mean_ns} at a time
-- @kind exact cause
-- @remedy (is_loading) Measure after warm-up steps that run each op once with each shape. In production load code before the
--     first step<<|| (CUDA_MODULE_LOADING=EAGER)>>, and set communication up by a first collective.
-- @remedy <<Set torch.npu.set_compile_mode(jit_compile=False) and torch.npu.config.allow_internal_format = False, so that
--     prebuilt kernels run. Where shapes change from step to step, pad them to a few sizes and raise ACLNN_CACHE_LIMIT||Run
--     each op and Triton kernel once with each shape before the first step, with a cache that lasts (TRITON_CACHE_DIR,
--     TORCHINDUCTOR_CACHE_DIR). Where shapes change from step to step, pad them to a few sizes, so that nothing is specialised
--     or tuned anew>>.
-- @query (is_loading) SELECT total_ns, gap_count, call, op, rank_id FROM free.cause_of_op WHERE work = 'load code' ORDER BY
--     total_ns DESC LIMIT 50
-- @query SELECT total_ns, gap_count, call, op, rank_id FROM free.cause_of_op WHERE work = 'compile' ORDER BY total_ns DESC
--     LIMIT 50
-- @counts host
-- @requires kernels, ops, host_calls
--
-- @columns profile to rank_id, module to op, count to win_ns as in advice.finding_of_rank
-- is_loading  BOOLEAN  whether launches load code; else ops are compiled
-- call        VARCHAR  the call that takes most of it
-- mean_ns     DOUBLE   mean idle time of a gap, ns
-- longest_op  VARCHAR  the op with most of it
-- longest_ns  BIGINT   the part of time_ns in that op, ns
--
-- *Ops are compiled*: idle time in calls that compile (`aclopCompileAndExecute`, `cuModuleLoadData`, `cudaGraphInstantiate`),
-- on the thread that asks for the kernel, or, after that, on the one that launches it. *Launches that load code*: idle time in
-- launches that take 1 ms or more, such as the first launch of a kernel. The win is exact for this recording; first calls do
-- not come back in later steps.
WITH compiling_op AS (
    SELECT
        profile,
        rank_id,
        work = 'load code' AS is_loading,
        if(is_loading, NULL, module) AS module,
        if(is_loading, NULL, op) AS op,
        coalesce(op, 'no op') AS op_name,
        call,
        gap_count,
        total_ns
    FROM free.cause_of_op
    WHERE work IN ('compile', 'load code')
),
of_call AS (
    SELECT *, sum(total_ns) OVER (PARTITION BY profile, is_loading, module, op, call) AS call_ns
    FROM compiling_op
),
of_op AS (
    SELECT
        profile,
        rank_id,
        is_loading,
        module,
        op,
        op_name,
        arg_max(call, (call_ns, call)) AS call,
        max(call_ns) FILTER (call IS NOT NULL) AS call_ns,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM of_call
    GROUP BY profile, rank_id, is_loading, module, op, op_name
),
of_rank AS (
    SELECT
        profile,
        rank_id,
        is_loading,
        module,
        op,
        arg_max(call, (call_ns, call)) AS call,
        arg_max(op_name, (total_ns, op_name)) AS longest_op,
        max(total_ns) AS longest_ns,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM of_op
    GROUP BY profile, rank_id, is_loading, module, op
)
SELECT
    profile,
    rank_id,
    module,
    op,
    gap_count AS count,
    total_ns AS time_ns,
    total_ns AS win_ns,
    is_loading,
    coalesce(call, 'a call that compiles') AS call,
    total_ns / gap_count AS mean_ns,
    longest_op,
    longest_ns
FROM of_rank
