-- One row is a module, op and type of kernels that multiply matrices of FP32 and may not use the faster type of the device,
-- HF32 or TF32.
-- Requires compute, shapes.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'hf32_speedup') AS hf32_speedup,
        max(value) FILTER (name = 'tf32_speedup') AS tf32_speedup
    FROM advice.threshold
    WHERE rule = 'hf32_off'
),
found AS (
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
    found.profile,
    found.rank_id,
    if(
        found.faster_type IS NULL,
        'It is not recorded whether FP32 matrices are multiplied in the faster type of the device',
        'FP32 matrices are not multiplied in the faster type of the device'
    ) AS title,
    found.module,
    found.op,
    found.kernel_type,
    format(
        '{} of FP32 matrix products, for {}{}',
        shown_kernels(found.kernel_count),
        shown_time(found.duration_ns),
        if(
            found.faster_type IS NULL,
            format('; the profile does not say whether in {}', found.shown_type),
            format(', not in {}', found.shown_type) || unless_critical(found.duration_ns, found.critical_ns)
        )
    ) AS evidence,
    found.kernel_count AS count,
    found.duration_ns AS time_ns,
    if(
        found.faster_type IS NULL,
        NULL,
        found.critical_ns
        - found.critical_ns // greatest(1, if(found.faster_type = 'hf32', threshold.hf32_speedup, threshold.tf32_speedup))
    )::BIGINT AS win_ns,
    if(found.faster_type IS NULL, 'hint', 'upper bound') AS kind,
    'Where a shorter mantissa suffices: NPU torch.npu.matmul.allow_hf32 = True (torch.npu.conv.allow_hf32 for convolutions), '
    || 'GPU torch.set_float32_matmul_precision(''high'') and torch.backends.cudnn.allow_tf32 = True.' AS what_to_do,
    'docs/rules.md#hf32-off' AS doc,
    'SELECT duration_ns, kernel_count, data_type, type, module '
    || 'FROM kernels.work WHERE multiplies AND data_type LIKE ''%fp32%'' ORDER BY duration_ns DESC LIMIT 20' AS sql
FROM found
CROSS JOIN threshold
