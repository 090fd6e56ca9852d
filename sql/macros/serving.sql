-- What a kernel does in serving, by its type or name, in the order of precedence; NULL for all others:
--   none               gradients, rotary embedding, caches, masks, and what merges the parts of one attention
--   verification       rejection sampling (rejection_random_sample_kernel, sample_recovered_tokens_kernel), trees of drafts
--   sampling           ArgMax, ApplyTopKTopPCustom, TopPSampling, kernels of FlashInfer that sample
--   decode attention   PagedAttention, paged_attention_ll4mi, IncreFlashAttention, pa_fwd of aiter, split keys of Triton
--                      (_fwd_grouped_kernel_stage1), BatchDecode of FlashInfer, FlashMLA, unified attention with split keys
--   prefill attention  FmhaBatchPrefill of ck_tile, BatchPrefillWithRagged of FlashInfer, PromptFlashAttention, RingMLA, plain
--                      forward kernels of FlashAttention 2 and of Triton, which read no cache in pages
--   attention          FusedInferAttentionScore, unified attention of Triton, FlashAttention 3, FlashAttention 2 with split
--                      keys, BatchPrefillWithPaged of FlashInfer, which decodes too, and all else that is named so
-- Sources: names in profiles of vLLM, vLLM-Ascend and SGLang, and the sources of these kernels.
CREATE MACRO IF NOT EXISTS part_in_serving(name) AS
    CASE
        WHEN regexp_matches(
            name,
            '(?i)grad|backward|_bwd|rope|rotary|store_?kv|reshape_and_cache|gen_?attention_?mask|merge_?(attn|state)|indexer'
        ) THEN NULL
        WHEN regexp_matches(name, '(?i)rejection.*sampl|sample_recovered|tree_?(verify|spec)|verify_?tree') THEN 'verification'
        WHEN regexp_matches(name, '(?i)arg_?max|top_?k_?top_?p|(top_?[kp]|min_?p|from_?(prob|logit)s?)_?sampl|gumbel')
            THEN 'sampling'
        WHEN regexp_matches(name, '(?i)split_?fuse') THEN 'attention'
        WHEN regexp_matches(
            name,
            '(?i)unified_attention_3d|paged_?(multi_?latent_?)?attention|^pa_(fwd|decode)|incre_?flash|batch_?decode'
            || '|flash_?decod|_fwd_(grouped_)?kernel_stage\d|flash_?mla|splitkv_mla|decode.*(attn|attention|fmha|mla)'
            || '|(attn|attention|fmha|mla)_?decode'
        ) THEN 'decode attention'
        WHEN regexp_matches(
            name,
            '(?i)fmha_?batch_?prefill|batch_?prefill_?with_?ragged|prompt_?flash|ring_?mla|prefill_?(attn|attention|fmha|mla)'
            || '|(attn|attention|fmha|mla)_?prefill|flash_fwd_kernel(<|I|\(|$)|fmha_?fwd_?kernel|fmha_fwd_|^_fwd_kernel$'
        ) THEN 'prefill attention'
        WHEN regexp_matches(
            name, '(?i)attention|fmha|flash_?attn|flash_fwd|batch_?prefill_?with_?paged|multi_?latent|(^|_)attn_(fwd|kernel)'
        ) AND NOT regexp_matches(name, '(?i)reduce|combine|prepare|metadata')
            THEN 'attention'
    END;

-- The rows of trace.serving_kernel. `kernels` and `strings` are the names of CTEs of compute kernels with the text_id that says
-- what they do, and of trace.string.
CREATE MACRO IF NOT EXISTS kernels_of_serving(kernels, strings) AS TABLE
    WITH used_text AS (
        SELECT DISTINCT text_id
        FROM query_table(kernels)
    ),
    part_of_text AS (
        SELECT text_id, part_in_serving(text) AS part
        FROM used_text
        JOIN query_table(strings) USING (text_id)
    )
    SELECT
        kernel_id,
        part::ENUM('prefill attention', 'decode attention', 'attention', 'sampling', 'verification') AS part
    FROM query_table(kernels)
    JOIN part_of_text USING (text_id)
    WHERE part IS NOT NULL;
