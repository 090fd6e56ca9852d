-- One row is a module and something that several kernels compute in it and that one fused op computes.
--
-- @guard chain.cost
-- @title (pattern = optimizer) The optimizer is not one fused op
-- @title (pattern = attention) Attention is written out, not one fused op
-- @title {shown_pattern} is written out, not one fused op
-- @evidence {chain_count|Once|times} {kernels_of_one} kernels ({parts}) take {duration_ns}[; fused ops need {least_ns} or
--     more][; the device is idle between them for {gap_ns}][; their backward takes {backward_ns}][; after some the device waits
--     for the host, which takes {late_ns} to launch them]{wins_nothing?; 0 can be won|}
-- @kind upper bound
-- @remedy (pattern = attention) Take <<torch_npu.npu_fusion_attention, or
--     torch.nn.functional.scaled_dot_product_attention||torch.nn.functional.scaled_dot_product_attention, or FlashAttention>>.
-- @remedy (pattern = RMSNorm) Take <<torch_npu.npu_rms_norm (with the residual npu_add_rms_norm)||torch.nn.functional.rms_norm
--     under torch.compile, or a fused kernel of Liger or Apex>>.
-- @remedy (pattern = LayerNorm) Take torch.nn.functional.layer_norm, which is one kernel.
-- @remedy (pattern = SwiGLU) Take <<torch_npu.npu_swiglu on the output of one matmul for gate and up||torch.compile, or a fused
--     kernel of Liger or Apex>>.
-- @remedy (pattern = GeGLU) Take <<torch_npu.npu_geglu||torch.compile, or a fused kernel of Liger>>.
-- @remedy (pattern = GELU) Take torch.nn.functional.gelu with approximate='tanh' or 'none'<<; torch_npu.fast_gelu, which
--     approximates||>>.
-- @remedy (pattern = rotary embedding) Take <<torch_npu.npu_rotary_mul, or npu_apply_rotary_pos_emb for query and
--     key||torch.compile, or the fused rotary embedding of Apex, Liger or FlashAttention>>.
-- @remedy (pattern = softmax) Take torch.nn.functional.softmax<<; with scale and mask torch_npu.npu_scaled_masked_softmax||>>.
-- @remedy (pattern = cross entropy) Take torch.nn.functional.cross_entropy where the vocabulary is whole; under tensor
--     parallelism Megatron's --cross-entropy-loss-fusion.<<|| A fused linear cross entropy, as in Liger.>>
-- @remedy Take <<torch_npu.optim.NpuFusedAdamW, NpuFusedSGD and the like||fused=True of torch.optim, or Apex>>.
-- @query SELECT win_ns, duration_ns, kernel_count, pattern, module FROM chain.cost ORDER BY win_ns DESC LIMIT 50
-- @counts kernels
-- @requires compute
--
-- @columns profile to rank_id, module, count to win_ns as in advice.finding_of_rank
-- pattern         VARCHAR  what they compute, as in chain.pattern
-- shown_pattern   VARCHAR  the same, as a sentence begins with it
-- is_norm         BOOLEAN  whether it is a norm in a module
-- chain_count     BIGINT   chains
-- kernels_of_one  VARCHAR  mean number of kernels of a chain
-- parts           VARCHAR  ops of the first chain, cut to 100 letters
-- duration_ns     BIGINT   time of the kernels, ns
-- least_ns        BIGINT   time that fused ops need at least, ns; NULL when it is 0
-- gap_ns          BIGINT   idle time of the device between the kernels, ns; NULL without any
-- backward_ns     BIGINT   time of their backward, ns; NULL without any
-- late_ns         BIGINT   time in which the host launches chains after which the device waits for it, ns; NULL without any
-- wins_nothing    BOOLEAN  whether nothing can be won
--
-- Consecutive kernels on a stream that one fused op could replace: RMSNorm, LayerNorm, SwiGLU, GeGLU, GELU, rotary embedding,
-- softmax, attention, cross entropy, and an optimizer by ops on single tensors or lists of tensors. Each kernel has a letter
-- for what it computes, from its type, else its op, else its name (`chain.symbol`); patterns over these letters
-- (`chain.pattern`) find the chains, so it works without modules and without recorded ops. The win is an upper bound. If the
-- device does not wait for the host after the chain, it is the critical time of the kernels and the idle time between them,
-- less the time to read the first input and write the last output once at the best rate of the rank (if sizes are not recorded,
-- less the shortest kernel). If the device waits, it is the time from the first launch to the last, which a single launch saves
-- the host. If ops are recorded, the critical time of their backward is added. The remedy names the fused op for NPUs and for
-- GPUs. The patterns are those of msprof-analyze's timeline_fusion_ops.yaml and more.
SELECT
    profile,
    rank_id,
    module,
    kernel_count AS count,
    duration_ns + backward_ns + gap_ns + late_ns AS time_ns,
    win_ns,
    pattern,
    upper(pattern[1]) || pattern[2:] AS shown_pattern,
    pattern IN ('RMSNorm', 'LayerNorm') AND module IS NOT NULL AS is_norm,
    chain_count,
    regexp_replace(round(kernel_count / chain_count, 1)::VARCHAR, '\.0$', '') AS kernels_of_one,
    if(length(cost.parts) > 100, cost.parts[:100] || '...', cost.parts) AS parts,
    duration_ns,
    nullif(greatest(cost.least_ns, 0), 0) AS least_ns,
    nullif(greatest(cost.gap_ns, 0), 0) AS gap_ns,
    nullif(greatest(cost.backward_ns, 0), 0) AS backward_ns,
    nullif(greatest(cost.late_ns, 0), 0) AS late_ns,
    win_ns = 0 AS wins_nothing
FROM chain.cost
