-- One row is a module, op and type of kernels that multiply matrices of FP32 and may not use the faster type of the device,
-- HF32 or TF32.
--
-- @title (is_known) FP32 matrices are not multiplied in the faster type of the device
-- @title It is not recorded whether FP32 matrices are multiplied in the faster type of the device
-- @evidence (is_known) {count|1 kernel|kernels} of FP32 matrix products, for {time_ns}, not in
--     {faster_type}{unless_critical(time_ns, critical_ns)}
-- @evidence {count|1 kernel|kernels} of FP32 matrix products, for {time_ns}; the profile does not say whether in {faster_type}
-- @kind (is_known) upper bound
-- @kind hint
-- @remedy Where a shorter mantissa suffices: <<torch.npu.matmul.allow_hf32 = True (torch.npu.conv.allow_hf32 for
--     convolutions)||torch.set_float32_matmul_precision('high') and torch.backends.cudnn.allow_tf32 = True>>.
-- @query SELECT duration_ns, kernel_count, data_type, type, module FROM kernels.work WHERE multiplies AND data_type LIKE
--     '%fp32%' ORDER BY duration_ns DESC LIMIT 20
-- @counts kernels
-- @requires compute, shapes
-- @threshold hf32_speedup 2: How much faster HF32 is than FP32: twice the operations in a cycle
-- @threshold tf32_speedup 16: How much faster TF32 is than FP32: the most on any device
--
-- @columns profile to rank_id, module to kernel_type, count to win_ns as in advice.finding_of_rank
-- is_known     BOOLEAN  whether the profile says in which type they multiply
-- faster_type  VARCHAR  the faster type: HF32 or TF32
-- critical_ns  BIGINT   the part of time_ns in kernels that are critical, as in critical.kernel, ns
--
-- Matrix products of FP32 that may not use the faster type of the device: HF32 on Ascend (`HF32 Eligible` is NO), TF32 on GPUs
-- (by the name of the kernel). The win is time × (1 − 1 / speedup): an upper bound. `hf32_speedup` is 2 (a core does 4,096
-- operations in a cycle instead of 2,048, `mfu.rate`), `tf32_speedup` 16, the most on any device. If the profile does not
-- record it (before 2025, Level0), the finding is a hint. Both types have a shorter mantissa. Matmuls use HF32 only where a
-- switch allows it, convolutions by default.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'hf32_speedup') AS hf32_speedup,
        max(value) FILTER (name = 'tf32_speedup') AS tf32_speedup
    FROM advice.threshold
    WHERE rule = 'hf32_off'
),
finding AS (
    SELECT
        profile,
        rank_id,
        module,
        op_name AS op,
        type AS kernel_type,
        faster_type,
        if(faster_type IS NULL, if(contains(data_type, 'hf32'), 'HF32', 'TF32'), upper(faster_type)) AS shown_type,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns
    FROM kernels.work
    WHERE faster_type IS NOT NULL OR (multiplies AND data_type IN ('fp32 or hf32', 'fp32 or tf32'))
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
    if(
        finding.faster_type IS NULL,
        NULL,
        finding.critical_ns
        - finding.critical_ns // greatest(1, if(finding.faster_type = 'hf32', threshold.hf32_speedup, threshold.tf32_speedup))
    )::BIGINT AS win_ns,
    finding.faster_type IS NOT NULL AS is_known,
    finding.shown_type AS faster_type,
    finding.critical_ns
FROM finding
CROSS JOIN threshold
