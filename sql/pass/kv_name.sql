-- One row is a name of a kernel, or of a range, op or call on the host, that moves the cache of keys and values (KV cache) to
-- or from another rank, or memory outside the device. No other file knows these names.
--
-- @guard pass.kernel
--
-- name_id  TEXT_ID  the name
-- mover    VARCHAR  what moves it: HCCL, vLLM, SGLang, Mooncake, LLMDataDist, LMCache or MindIE
--
-- The names, with their sources:
--   hccl_batchGet_, hccl_batchPut_, HcclBatchGet, ...    one-sided operators of HCCL, below LLMDataDist, HIXL and ADXL
--   PullKVCache                                          msServiceProfiler and MindIE
--   start_load_kv, wait_for_layer_load, save_kv_layer,   KV connectors of vLLM and vLLM-Ascend (NIXL, NCCL, Mooncake, ...);
--   wait_for_save, maybe_save_kv_layer_to_connector, ... swap_blocks where they offload
--   send_kvcache, send_kvcache_slice                     disaggregation of SGLang
--   transfer_kernel_impl, transfer_kv_all_layer, ...     kernels and ops of SGLang's kvcacheio
--   batch_transfer_sync_read, transfer_sync_write, ...   Mooncake's transfer engine
--   pull_kv, pull_blocks, push_cache, ...                LLMDataDist
--   load_and_reshape_multi_layer_kernel, ...             LMCache
-- Kernels of NCCL that send and receive name no purpose: those that one of these calls launches are found by the call.
WITH used_name AS (
    SELECT DISTINCT name_id AS text_id
    FROM trace.kernel
    UNION
    SELECT DISTINCT type_id
    FROM trace.kernel
    UNION
    SELECT DISTINCT recorded_name_id
    FROM trace.range
    UNION
    SELECT DISTINCT name_id
    FROM trace.op
    UNION
    SELECT DISTINCT name_id
    FROM trace.host_api
),
named AS (
    SELECT
        text_id AS name_id,
        CASE
            -- Knows hccl, hcom: the operators of all other libraries name no purpose.
            WHEN regexp_matches(text, '(?i)^(hccl|hcom)_?batch(put|get)(_|$)') THEN 'HCCL'
            WHEN regexp_matches(text, '^PullKVCache$') THEN 'MindIE'
            WHEN regexp_matches(
                text,
                '(^|\W)(start_load_kv|wait_for_layer_load|save_kv_layer|wait_for_save|maybe_save_kv_layer_to_connector'
                || '|wait_for_kv_layer_from_connector|swap_blocks)(\W|$)'
            ) THEN 'vLLM'
            WHEN regexp_matches(
                text, '(^|\W)(send_kvcache(_slice)?|transfer_(page_head_)?kernel_impl|transfer_kv_(per|all)_layer\w*)(\W|$)'
            ) THEN 'SGLang'
            WHEN regexp_matches(text, '(^|\W)(batch_)?transfer_(sync|async)(_read|_write)?(\W|$)') THEN 'Mooncake'
            WHEN regexp_matches(text, '(^|\W)((pull|push)_(kv|blocks|cache)|transfer_cache_async)(\W|$)') THEN 'LLMDataDist'
            WHEN regexp_matches(text, '(^|\W)(load_and_reshape_multi_layer_kernel|(single|multi)_layer_kv_transfer)')
                THEN 'LMCache'
        END AS mover
    FROM used_name
    JOIN trace.string USING (text_id)
)
FROM named
WHERE mover IS NOT NULL
