-- One row is a module, op and type of attention kernels that use little of the peak and could be faster.
--
-- @guard roofline.attention
-- @title Attention uses little of the peak
-- @evidence {count|1 kernel runs|kernels run} at {peak_share} of the peak of {data_type} for {time_ns}; of
--     {shape_count|shape|shapes most can be won in} {input_shapes}: {efficiency} of the peak, where {attainable_share} is
--     attainable{unless_critical(time_ns, critical_ns)}
-- @kind upper bound
-- @remedy (backend = full precision) Compute it in BF16 or FP16: kernels of flash attention take no FP32.
-- @remedy (backend = efficient) This is the memory-efficient backend of PyTorch: flash attention is faster. It takes BF16 or
--     FP16, no mask as a tensor (is_causal=True instead), and heads of up to 256;
--     torch.nn.attention.sdpa_kernel(SDPBackend.FLASH_ATTENTION) says why it is not taken. On NVIDIA GPUs since Hopper,
--     SDPBackend.CUDNN_ATTENTION or FlashAttention 3.
-- @remedy (backend = flash) Flash attention needs long sequences and heads of 128 to reach more: join short sequences (variable
--     lengths), larger batch or less tensor parallelism where blocks are few. On NVIDIA GPUs since Hopper,
--     SDPBackend.CUDNN_ATTENTION or FlashAttention 3.
-- @remedy (backend = attention score) Join short sequences (layout TND with the ends of the sequences), no mask as a tensor
--     where sparse_mode can say it, heads of 128, and larger blocks of queries for each core.
-- @remedy Try another backend of the same attention, join short sequences, and give masks as a rule in place of a tensor.
-- @query SELECT duration_ns, critical_ns, efficiency, type, input_shapes FROM roofline.attention ORDER BY duration_ns DESC
--     LIMIT 50
-- @counts kernels
-- @requires compute, shapes
-- @threshold attainable_efficiency 0.5: Share of the peak that attention can reach where none does
-- @threshold bound_flops_per_byte 300: FLOPs for each byte from which on computing, not memory, is the bound: peak over
--     bandwidth of devices, 156 of A100, 246 of MI300X, 295 of H100
-- @threshold least_win_share 0.1: Share of the critical time that can be won
-- @threshold most_efficiency 0.3: Share of the peak from which on attention is not slow
--
-- @columns profile to rank_id, module to kernel_type, count to win_ns as in advice.finding_of_rank
-- @columns peak_share to efficiency as in advice.slow_matmul
-- attainable_share  DOUBLE   the share of the peak that is attainable
-- backend           VARCHAR  what ran, by the names of kernel and op: full precision, whatever ran in FP32; efficient, flash,
--                            attention score or other
--
-- Attention with known FLOPs and peak (as in [MFU](mfu.md)) that reaches less than 30 % of the peak while it runs
-- (`most_efficiency`), by module, op and type. The win is an upper bound. It is the critical time less the time that it needs
-- at the best efficiency of any shape of the same data type on the rank, or at half of the peak if no shape reaches that
-- (`attainable_efficiency`; flash attention reaches 50 to 75 % of the peak on long sequences with heads of 128, by its authors'
-- figures). Where it computes less with each byte of its inputs and outputs than `bound_flops_per_byte`, memory bounds it, and
-- the attainable share is smaller by as much. So decoding, which reads all keys for one query, is no finding, nor is attention
-- whose bytes are not known. The remedy follows from the backend that ran, by the names of its kernels. A softmax between two
-- batched products is no attention kernel: see [slow matmul](#slow-matmul).
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'most_efficiency') AS most_efficiency,
        max(value) FILTER (name = 'attainable_efficiency') AS attainable_efficiency,
        max(value) FILTER (name = 'bound_flops_per_byte') AS bound_flops_per_byte,
        max(value) FILTER (name = 'least_win_share') AS least_win_share
    FROM advice.threshold
    WHERE rule = 'slow_attention'
),
best AS (
    SELECT
        attention.profile,
        attention.data_type,
        attention.is_gradient,
        greatest(max(attention.efficiency), min(threshold.attainable_efficiency)) AS efficiency
    FROM roofline.attention
    CROSS JOIN threshold
    GROUP BY attention.profile, attention.data_type, attention.is_gradient
),
shape AS (
    SELECT
        attention.*,
        best.efficiency * least(1, attention.flops_per_byte / threshold.bound_flops_per_byte) AS attainable_share,
        greatest(0, 1 - attention.efficiency / attainable_share) AS win_share
    FROM roofline.attention
    JOIN best USING (profile, data_type, is_gradient)
    CROSS JOIN threshold
    WHERE attention.efficiency < threshold.most_efficiency AND attention.flops_per_byte > 0
),
finding AS (
    SELECT
        profile,
        rank_id,
        module,
        op_name AS op,
        type AS kernel_type,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(at_peak_ns)::BIGINT AS at_peak_ns,
        round(sum(critical_ns * win_share))::BIGINT AS win_ns,
        count(*) AS shape_count,
        arg_max(shape, (critical_ns * win_share, duration_ns, input_shapes)) AS most
    FROM shape
    GROUP BY ALL
)
SELECT
    finding.profile,
    finding.rank_id,
    finding.module,
    finding.op,
    finding.kernel_type,
    finding.kernel_count AS count,
    finding.duration_ns AS time_ns,
    finding.win_ns,
    finding.at_peak_ns / finding.duration_ns AS peak_share,
    finding.critical_ns,
    finding.shape_count,
    finding.most.data_type,
    shown_shapes(finding.most.input_shapes) AS input_shapes,
    finding.most.efficiency,
    finding.most.attainable_share,
    CASE
            WHEN finding.most.data_type = 'fp32' THEN 'full precision'
            WHEN regexp_matches(finding.kernel_type, '(?i)fmha_cutlass|efficient|MemEffAttention|AttentionKernel')
                THEN 'efficient'
            WHEN regexp_matches(finding.kernel_type, '(?i)AttentionScore') THEN 'attention score'
            WHEN regexp_matches(concat(finding.op, ' ', finding.kernel_type), '(?i)flash') THEN 'flash'
            ELSE 'other'
        END AS backend
FROM finding
CROSS JOIN threshold
WHERE finding.win_ns >= threshold.least_win_share * finding.critical_ns AND finding.win_ns > 0
