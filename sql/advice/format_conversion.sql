-- One row is a module and what kernels do in it that only convert or copy what others have made. The casts of a norm are left
-- to unfused_chain where one fused op wins as much.
-- Requires compute.
--
-- profile to sql as in advice.finding_of_rank
WITH by_type AS (
    SELECT
        profile,
        rank_id,
        module,
        role,
        type,
        sum(kernel_count) AS kernel_count,
        sum(duration_ns) AS duration_ns,
        sum(critical_ns) AS critical_ns
    FROM kernels.work
    WHERE role IN ('format conversion', 'conversion and back', 'copy')
    GROUP BY ALL
),
found AS (
    SELECT
        profile,
        rank_id,
        module,
        role,
        list(type ORDER BY duration_ns DESC, type) FILTER (type IS NOT NULL) AS types,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns
    FROM by_type
    GROUP BY profile, rank_id, module, role
)
SELECT
    profile,
    rank_id,
    CASE role
        WHEN 'format conversion' THEN 'Tensors are converted between formats'
        WHEN 'conversion and back' THEN 'Data types are converted there and back'
        ELSE 'Tensors are copied, or arranged anew'
    END AS title,
    module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        CASE role
            WHEN 'format conversion' THEN '{} that convert formats, for {}{}{}'
            WHEN 'conversion and back' THEN '{} that convert a data type to another one or back, for {}{}{}'
            ELSE '{} that copy or transpose, for {}{}{}'
        END,
        shown_kernels(kernel_count),
        shown_time(duration_ns),
        coalesce(': ' || shown_names(types), ''),
        unless_critical(duration_ns, critical_ns)
    ) AS evidence,
    kernel_count AS count,
    duration_ns AS time_ns,
    critical_ns AS win_ns,
    'upper bound' AS kind,
    CASE role
        WHEN 'format conversion'
            THEN 'NPU: keep tensors in ND (torch.npu.config.allow_internal_format = False), or convert weights once with '
            || 'torch_npu.npu_format_cast; in a matmul align and split the inner axes. GPU: memory_format=torch.channels_last.'
        WHEN 'conversion and back'
            THEN 'Keep the module in one data type, or use a fused op that converts inside, such as torch_npu.npu_rms_norm or '
            || 'torch.nn.functional.rms_norm; torch.compile fuses casts too.'
        ELSE 'Remove contiguous(), clone() and transposes, or choose the layout that the next op takes, such as input_layout '
        || 'of attention; under DDP set gradient_as_bucket_view=True.'
    END AS what_to_do,
    'docs/rules.md#format-conversion' AS doc,
    format('SELECT duration_ns, kernel_count, type, module, rank_id FROM kernels.work WHERE role = ''{}'' '
    || 'ORDER BY duration_ns DESC LIMIT 50', role) AS sql
FROM found
WHERE role <> 'conversion and back'
   OR NOT EXISTS (
       FROM chain.cost
       WHERE cost.profile = found.profile
         AND cost.module = found.module
         AND cost.pattern IN ('RMSNorm', 'LayerNorm')
         AND cost.win_ns >= found.critical_ns
   )
