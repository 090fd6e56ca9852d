-- One row is a module and op of a rank that is compiled while the device is idle, or a rank whose launches load code meanwhile.
-- Requires kernels, ops, host_calls.
--
-- profile to sql as in advice.finding_of_rank
WITH compiling AS (
    SELECT *, work = 'load code' AS is_loading
    FROM free.cause_of_op
    WHERE work IN ('compile', 'load code')
),
of_op AS (
    SELECT
        profile,
        rank_id,
        is_loading,
        if(is_loading, NULL, module) AS module,
        if(is_loading, NULL, op) AS op,
        coalesce(op, 'no op') AS op_name,
        arg_max(call, (total_ns, call)) AS call,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM compiling
    GROUP BY ALL
),
of_rank AS (
    SELECT
        profile,
        rank_id,
        is_loading,
        module,
        op,
        arg_max(call, (total_ns, call)) AS call,
        arg_max(op_name, (total_ns, op_name)) AS longest_op,
        max(total_ns) AS longest_ns,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM of_op
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    if(
        is_loading,
        'Launches load code or set up communication',
        'The device waits for ops to be compiled'
    ) AS title,
    module,
    op,
    NULL::VARCHAR AS kernel_type,
    if(
        is_loading,
        format(
            'In {} the device is idle for {} in launches that take 1 ms or more each, {} of it in {}',
            shown_gaps(gap_count),
            shown_time(total_ns),
            shown_time(longest_ns),
            longest_op
        ),
        format(
            'In {} the device is idle for {} while the host is in {}: {} at a time',
            shown_gaps(gap_count),
            shown_time(total_ns),
            coalesce(call, 'a call that compiles'),
            shown_time(total_ns / gap_count)
        )
    ) AS evidence,
    gap_count AS count,
    total_ns AS time_ns,
    total_ns AS win_ns,
    'exact cause' AS kind,
    if(
        is_loading,
        'Measure after warm-up steps that run each op once with each shape. In production load code before the first step (on '
        || 'GPUs CUDA_MODULE_LOADING=EAGER), and set communication up by a first collective.',
        'On NPUs set torch.npu.set_compile_mode(jit_compile=False) and torch.npu.config.allow_internal_format = False, so that '
        || 'prebuilt kernels run. Where shapes change from step to step, pad them to a few sizes and raise ACLNN_CACHE_LIMIT.'
    ) AS what_to_do,
    'docs/rules.md#op-compilation' AS doc,
    if(
        is_loading,
        'SELECT total_ns, gap_count, call, op, rank_id FROM free.cause_of_op WHERE work = ''load code'' '
        || 'ORDER BY total_ns DESC LIMIT 50',
        'SELECT total_ns, gap_count, call, op, rank_id FROM free.cause_of_op WHERE work = ''compile'' '
        || 'ORDER BY total_ns DESC LIMIT 50'
    ) AS sql
FROM of_rank
