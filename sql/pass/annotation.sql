-- One row is a name of a range or op on the host that an engine for serving wrote, with what it says. No other file knows these
-- names.
--
-- name_id                TEXT_ID  the name
-- what                   ENUM('pass', 'forward', 'draft', 'capture', 'scheduling', 'preparing', 'sampling', 'detokenising')  a
--                                 pass; the model in it; passes of a draft model; the capture of a graph; on the host the
--                                 choice of the next batch, its inputs, the choice of tokens, their texts
-- phase                  VARCHAR  phase of the pass, as in pass.instance; NULL when it does not say
-- request_count          BIGINT   requests; NULL when it does not say
-- prefill_request_count  BIGINT   requests in prefill; NULL when it does not say
-- decode_request_count   BIGINT   requests in decode; NULL when it does not say
-- token_count            BIGINT   tokens that the pass computes; NULL when it does not say
-- padded_request_count   BIGINT   requests of the graph that is replayed, filled up to its size; NULL when it does not say
-- prefill_token_count    BIGINT   queries of the requests in prefill; NULL when it does not say
-- prefill_key_count      BIGINT   keys that they attend to, those of the pass included; NULL when it does not say
-- prefill_square_count   BIGINT   sum of the squares of their queries; NULL when it does not say
-- prefill_pair_count     BIGINT   sum of their queries times keys; NULL when it does not say
-- decode_token_count     BIGINT   queries of the requests in decode; NULL when it does not say
-- decode_key_count       BIGINT   keys that they attend to; NULL when it does not say
-- decode_square_count    BIGINT   sum of the squares of their queries; NULL when it does not say
-- decode_pair_count      BIGINT   sum of their queries times keys; NULL when it does not say
--
-- Numbers of more than 12 digits, 18 in sums of squares and products, are none. The forms, with their sources:
--   execute_T_context_N(sq.sk.sqsq.sqsk.)_generation_M(...)   vLLM, detailed_trace_annotation
--   execute_context_N(T)_generation_M(T), also N(T_S)         vLLM, of 2025 with the sum of the squares
--   execute_new_N_cached_M                                    vLLM before that: M may be in prefill or decode
--   step[MODE bs=N toks=T c_sq=. g_sq=. ...]                  SGLang, forward modes of ForwardMode; c prefill, g decode
--   prefill[bs=N tok=T ctx=[.]], decode[bs=N/P tok=T d=T]     ATOM, P of the graph
--   capture_N_MODE                                            vLLM and SGLang while they capture graphs
--   execute_diffusion_N_WxH                                   vLLM-Omni: requests without prefill and decode
--   modelExec, specDecoding, batchFrameworkProcessing         msServiceProfiler
--   gpu_model_runner: forward, ... and schedule: ...          vLLM, since 2025-10; Forward, Sample, ... before
--   prepare input, forward, sample_token, draft_token, ...    vLLM-Ascend; these words count where two of them are there
WITH used_name AS (
    SELECT DISTINCT recorded_name_id AS text_id
    FROM trace.range
    UNION
    SELECT DISTINCT name_id
    FROM trace.op
),
named AS (
    SELECT text_id, text
    FROM used_name
    JOIN trace.string USING (text_id)
    WHERE regexp_matches(
        text,
        '^(execute_|step\[[A-Z]|(prefill|decode|mixed)\[bs=|capture_\d|schedule: |llm_engine step: |gpu_model_runner: '
        || '|modelExec$|specDecoding$|batchFrameworkProcessing$|(Preprocess|Forward|Sample|Draft|Postprocess|Bookkeep)$'
        || '|(prepare input|forward|post process|sample_token|draft_token|async_state_update)$)'
    )
),
word AS (
    SELECT
        *,
        regexp_matches(text, '^(Preprocess|Forward|Sample|Draft|Postprocess|Bookkeep)$') AS is_of_vllm,
        regexp_matches(text, '^(prepare input|forward|post process|sample_token|draft_token|async_state_update)$')
            AS is_of_ascend
    FROM named
),
known_word AS (
    SELECT text_id, text
    FROM word
    -- A word alone can be a user's own.
    QUALIFY if(
        is_of_vllm OR is_of_ascend,
        if(is_of_vllm, count(*) FILTER (is_of_vllm) OVER (), count(*) FILTER (is_of_ascend) OVER ()) > 1,
        true
    )
),
matched AS (
    SELECT
        text_id,
        text,
        regexp_extract(
            text,
            '^execute_(?:(\d{1,12})_)?context_(\d{1,12})'
            || '\((?:sq(\d{1,12})sk(\d{1,12})sqsq(\d{1,18})sqsk(\d{1,18})|(\d{1,12})(?:_(\d{1,18}))?)\)'
            || '_generation_(\d{1,12})\((?:sq(\d{1,12})sk(\d{1,12})sqsq(\d{1,18})sqsk(\d{1,18})|(\d{1,12})(?:_(\d{1,18}))?)\)$',
            [
                'tokens', 'c', 'c_sq', 'c_sk', 'c_sqsq', 'c_sqsk', 'c_plain', 'c_plain_sqsq',
                'g', 'g_sq', 'g_sk', 'g_sqsq', 'g_sqsk', 'g_plain', 'g_plain_sqsq'
            ]
        ) AS vllm,
        regexp_extract(text, '^execute_new_(\d{1,12})_cached_(\d{1,12})$', ['new', 'cached']) AS older,
        regexp_extract(text, '^step\[([A-Z_0-9]+) bs=(\d{1,12})\b', ['mode', 'bs']) AS sglang,
        regexp_extract(text, '^(prefill|decode|mixed)\[bs=(\d{1,12})\b(?:/(\d{1,12})\b)?', ['mode', 'bs', 'graph']) AS atom,
        regexp_extract(text, '^execute_diffusion_(\d{1,12})_\d+x\d+$', 1) AS diffusion,
        regexp_extract(text, '^capture_(\d{1,12})_\w+$', 1) AS captured
    FROM known_word
),
-- Further pairs of a name and a number, as in toks=15360 of SGLang and ATOM.
read AS (
    SELECT
        *,
        TRY_CAST(nullif(regexp_extract(text, '[ \[](?:toks|tok)=(\d{1,12})\b', 1), '') AS BIGINT) AS toks,
        TRY_CAST(nullif(regexp_extract(text, '[ \[]c=(\d{1,12})\b', 1), '') AS BIGINT) AS c,
        TRY_CAST(nullif(regexp_extract(text, '[ \[]g=(\d{1,12})\b', 1), '') AS BIGINT) AS g,
        TRY_CAST(nullif(regexp_extract(text, '[ \[]c_sq=(\d{1,12})\b', 1), '') AS BIGINT) AS c_sq,
        TRY_CAST(nullif(regexp_extract(text, '[ \[]c_sk=(\d{1,12})\b', 1), '') AS BIGINT) AS c_sk,
        TRY_CAST(nullif(regexp_extract(text, '[ \[]c_sqsq=(\d{1,18})\b', 1), '') AS BIGINT) AS c_sqsq,
        TRY_CAST(nullif(regexp_extract(text, '[ \[]c_sqsk=(\d{1,18})\b', 1), '') AS BIGINT) AS c_sqsk,
        TRY_CAST(nullif(regexp_extract(text, '[ \[]g_sq=(\d{1,12})\b', 1), '') AS BIGINT) AS g_sq,
        TRY_CAST(nullif(regexp_extract(text, '[ \[](?:g_sk|sk)=(\d{1,12})\b', 1), '') AS BIGINT) AS g_sk,
        TRY_CAST(nullif(regexp_extract(text, '[ \[](?:g_sqsq|sqsq)=(\d{1,18})\b', 1), '') AS BIGINT) AS g_sqsq,
        TRY_CAST(nullif(regexp_extract(text, '[ \[](?:g_sqsk|sqsk)=(\d{1,18})\b', 1), '') AS BIGINT) AS g_sqsk
    FROM matched
),
of_vllm AS (
    SELECT
        text_id,
        'pass' AS what,
        TRY_CAST(vllm.c AS BIGINT) AS prefill_request_count,
        TRY_CAST(vllm.g AS BIGINT) AS decode_request_count,
        prefill_request_count + decode_request_count AS request_count,
        CASE
            WHEN request_count = 0 THEN 'dummy'
            WHEN decode_request_count = 0 THEN 'prefill'
            WHEN prefill_request_count = 0 THEN 'decode'
            ELSE 'mixed'
        END AS phase,
        TRY_CAST(coalesce(nullif(vllm.c_sq, ''), vllm.c_plain) AS BIGINT) AS prefill_token_count,
        TRY_CAST(nullif(vllm.c_sk, '') AS BIGINT) AS prefill_key_count,
        TRY_CAST(coalesce(nullif(vllm.c_sqsq, ''), nullif(vllm.c_plain_sqsq, '')) AS BIGINT) AS prefill_square_count,
        TRY_CAST(nullif(vllm.c_sqsk, '') AS BIGINT) AS prefill_pair_count,
        TRY_CAST(coalesce(nullif(vllm.g_sq, ''), vllm.g_plain) AS BIGINT) AS decode_token_count,
        TRY_CAST(nullif(vllm.g_sk, '') AS BIGINT) AS decode_key_count,
        TRY_CAST(coalesce(nullif(vllm.g_sqsq, ''), nullif(vllm.g_plain_sqsq, '')) AS BIGINT) AS decode_square_count,
        TRY_CAST(nullif(vllm.g_sqsk, '') AS BIGINT) AS decode_pair_count,
        coalesce(TRY_CAST(nullif(vllm.tokens, '') AS BIGINT), prefill_token_count + decode_token_count) AS token_count
    FROM read
    WHERE vllm.c <> ''
),
of_sglang AS (
    SELECT
        text_id,
        'pass' AS what,
        CASE
            WHEN sglang.mode IN ('EXTEND', 'SPLIT_PREFILL', 'DLLM_EXTEND') THEN 'prefill'
            WHEN sglang.mode IN ('DECODE', 'TARGET_VERIFY') THEN 'decode'
            WHEN sglang.mode = 'MIXED' THEN 'mixed'
            WHEN starts_with(sglang.mode, 'DRAFT') THEN 'draft'
            WHEN sglang.mode = 'IDLE' THEN 'dummy'
        END AS phase,
        TRY_CAST(sglang.bs AS BIGINT) AS request_count,
        CASE phase WHEN 'prefill' THEN request_count WHEN 'decode' THEN 0 WHEN 'mixed' THEN c END AS prefill_request_count,
        CASE phase WHEN 'decode' THEN request_count WHEN 'prefill' THEN 0 WHEN 'mixed' THEN g END AS decode_request_count,
        coalesce(c_sq, if(phase = 'prefill', toks, NULL)) AS prefill_token_count,
        c_sk AS prefill_key_count,
        c_sqsq AS prefill_square_count,
        c_sqsk AS prefill_pair_count,
        -- Each request generates one token, unless drafted ones are verified.
        coalesce(g_sq, CASE WHEN phase = 'decode' THEN coalesce(toks, if(sglang.mode = 'DECODE', request_count, NULL)) END)
            AS decode_token_count,
        g_sk AS decode_key_count,
        g_sqsq AS decode_square_count,
        g_sqsk AS decode_pair_count,
        coalesce(
            toks,
            CASE phase
                WHEN 'prefill' THEN prefill_token_count
                WHEN 'decode' THEN decode_token_count
                WHEN 'mixed' THEN prefill_token_count + decode_token_count
            END
        ) AS token_count
    FROM read
    WHERE sglang.mode <> ''
),
of_atom AS (
    SELECT
        text_id,
        'pass' AS what,
        atom.mode AS phase,
        TRY_CAST(atom.bs AS BIGINT) AS request_count,
        CASE atom.mode WHEN 'prefill' THEN request_count WHEN 'decode' THEN 0 END AS prefill_request_count,
        CASE atom.mode WHEN 'decode' THEN request_count WHEN 'prefill' THEN 0 END AS decode_request_count,
        TRY_CAST(nullif(atom.graph, '') AS BIGINT) AS padded_request_count,
        toks AS token_count,
        if(atom.mode = 'prefill', toks, NULL) AS prefill_token_count,
        if(atom.mode = 'decode', toks, NULL) AS decode_token_count,
        if(atom.mode = 'decode', g_sk, NULL) AS decode_key_count,
        if(atom.mode = 'decode', g_sqsq, NULL) AS decode_square_count,
        if(atom.mode = 'decode', g_sqsk, NULL) AS decode_pair_count
    FROM read
    WHERE atom.mode <> ''
),
of_other AS (
    SELECT
        text_id,
        CASE
            WHEN older.new <> '' OR diffusion <> '' OR text = 'modelExec' THEN 'pass'
            WHEN captured <> '' THEN 'capture'
            WHEN text IN ('gpu_model_runner: forward', 'Forward', 'forward') THEN 'forward'
            WHEN text IN ('gpu_model_runner: draft', 'Draft', 'draft_token', 'specDecoding') THEN 'draft'
            WHEN starts_with(text, 'schedule: ') OR text = 'batchFrameworkProcessing' THEN 'scheduling'
            WHEN text IN ('gpu_model_runner: preprocess', 'Preprocess', 'prepare input') THEN 'preparing'
            WHEN text IN ('gpu_model_runner: sample', 'Sample', 'sample_token') THEN 'sampling'
            WHEN text = 'llm_engine step: process_outputs' THEN 'detokenising'
        END AS what,
        CASE what WHEN 'draft' THEN 'draft' WHEN 'capture' THEN 'capture' END AS phase,
        coalesce(
            TRY_CAST(nullif(older.new, '') AS BIGINT) + TRY_CAST(nullif(older.cached, '') AS BIGINT),
            TRY_CAST(nullif(diffusion, '') AS BIGINT),
            TRY_CAST(nullif(captured, '') AS BIGINT)
        ) AS request_count
    FROM read
    WHERE vllm.c = '' AND sglang.mode = '' AND atom.mode = ''
),
parsed AS (
    FROM of_vllm
    UNION ALL BY NAME
    FROM of_sglang
    UNION ALL BY NAME
    FROM of_atom
    UNION ALL BY NAME
    FROM of_other
)
SELECT
    text_id AS name_id,
    what::ENUM('pass', 'forward', 'draft', 'capture', 'scheduling', 'preparing', 'sampling', 'detokenising') AS what,
    phase,
    request_count,
    prefill_request_count,
    decode_request_count,
    token_count,
    padded_request_count,
    prefill_token_count,
    prefill_key_count,
    prefill_square_count,
    prefill_pair_count,
    decode_token_count,
    decode_key_count,
    decode_square_count,
    decode_pair_count
FROM parsed
WHERE what IS NOT NULL
