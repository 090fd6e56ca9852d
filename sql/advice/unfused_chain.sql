-- One row is a module and something that several kernels compute in it and that one fused op computes.
-- Requires compute.
--
-- profile to sql as in advice.finding_of_rank
SELECT
    profile,
    rank_id,
    CASE pattern
        WHEN 'optimizer' THEN 'The optimizer is not one fused op'
        WHEN 'attention' THEN 'Attention is written out, not one fused op'
        ELSE format('{} is written out, not one fused op', upper(pattern[1]) || pattern[2:])
    END AS title,
    module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        '{} {} kernels ({}) take {}{}{}{}{}{}',
        if(chain_count = 1, 'Once', chain_count || ' times'),
        regexp_replace(round(kernel_count / chain_count, 1)::VARCHAR, '\.0$', ''),
        if(length(parts) > 100, parts[:100] || '...', parts),
        shown_time(duration_ns),
        if(least_ns > 0, format('; fused ops need {} or more', shown_time(least_ns)), ''),
        if(gap_ns > 0, format('; the device is idle between them for {}', shown_time(gap_ns)), ''),
        if(backward_ns > 0, format('; their backward takes {}', shown_time(backward_ns)), ''),
        if(
            late_ns > 0,
            format('; after some the device waits for the host, which takes {} to launch them', shown_time(late_ns)),
            ''
        ),
        if(win_ns = 0, '; 0 can be won', '')
    ) AS evidence,
    kernel_count AS count,
    duration_ns + backward_ns + gap_ns + late_ns AS time_ns,
    win_ns,
    'upper bound' AS kind,
    CASE pattern
        WHEN 'attention'
            THEN 'NPU: torch_npu.npu_fusion_attention, or torch.nn.functional.scaled_dot_product_attention. GPU: '
            || 'scaled_dot_product_attention or FlashAttention.'
        WHEN 'RMSNorm'
            THEN 'NPU: torch_npu.npu_rms_norm (with the residual npu_add_rms_norm). GPU: torch.nn.functional.rms_norm under '
            || 'torch.compile, or a fused kernel of Liger or Apex.'
        WHEN 'LayerNorm' THEN 'torch.nn.functional.layer_norm, which is one kernel on NPUs and on GPUs.'
        WHEN 'SwiGLU'
            THEN 'NPU: torch_npu.npu_swiglu on the output of one matmul for gate and up. GPU: torch.compile, or a fused kernel '
            || 'of Liger or Apex.'
        WHEN 'GeGLU' THEN 'NPU: torch_npu.npu_geglu. GPU: torch.compile, or a fused kernel of Liger.'
        WHEN 'GELU'
            THEN 'torch.nn.functional.gelu with approximate=''tanh'' or ''none''; NPU: torch_npu.fast_gelu, which approximates.'
        WHEN 'rotary embedding'
            THEN 'NPU: torch_npu.npu_rotary_mul, or npu_apply_rotary_pos_emb for query and key. GPU: torch.compile, or the '
            || 'fused rotary embedding of Apex, Liger or FlashAttention.'
        WHEN 'softmax'
            THEN 'torch.nn.functional.softmax; with scale and mask, NPU: torch_npu.npu_scaled_masked_softmax.'
        WHEN 'cross entropy'
            THEN 'torch.nn.functional.cross_entropy where the vocabulary is whole; under tensor parallelism Megatron''s '
            || '--cross-entropy-loss-fusion. GPU: a fused linear cross entropy, as in Liger.'
        ELSE 'NPU: torch_npu.optim.NpuFusedAdamW, NpuFusedSGD and the like. GPU: fused=True of torch.optim, or Apex.'
    END AS what_to_do,
    'docs/rules.md#unfused-chain' AS doc,
    'SELECT win_ns, duration_ns, kernel_count, pattern, module FROM chain.cost ORDER BY win_ns DESC LIMIT 50' AS sql
FROM chain.cost
