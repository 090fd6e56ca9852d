-- One row is a description of compute kernels, with its symbol in the sequence and its part in a layer.
--
-- name_id        TEXT_ID  name of the kernels
-- type_id        TEXT_ID  their type; NULL when it is not known
-- core_id        TEXT_ID  cores they ran on
-- symbol         BIGINT   number of the symbol
-- usual_type_id  TEXT_ID  the type that most kernels of this name on these cores have; NULL when it is not known
-- part           VARCHAR  part of these kernels in a layer, as below; NULL where the name gives none
--
-- A symbol is a type on certain cores. Kernels of one name are of one type: for the first launch in a captured graph, some
-- versions record the call (MatMulCommon, PadV3AiCore) instead of the type (MatMulV2, MemSet and PadV3).
-- Where no types were collected, the symbol is the name without the numbers at its end.
--
-- Only this file knows names of operators. Where it knows none of a model, the sequence alone shows where layers begin.
-- The parts, in order of precedence:
--   none           what runs backward (Grad) or generates masks (GenAttentionMask)
--   closing norm   a matmul that adds the residual and norms what it gives, such as MatmulAllReduceAddRmsNorm
--   attention      FlashAttentionScore, FusedInferAttentionScore, PagedAttention, IncreFlashAttention, RingMLA, MlaProlog, and
--                  what some layers have instead, such as GatedDeltaRule
--   none           norms within attention (with rope, of q, k and v, with the cache) and those of images (BatchNorm)
--   residual norm  what adds the residual and norms the sum: AddRmsNorm, AddRmsNormCast, InplaceAddRmsNorm, AddLayerNorm
--   norm           RmsNorm, LayerNorm, GemmaRmsNorm
--   add            Add
WITH described_kernel AS (
    SELECT name_id, type_id, core_id, count(*) AS kernel_count
    FROM kernels.selected
    WHERE kind = 'compute'
    GROUP BY ALL
),
usual AS (
    SELECT
        described_kernel.name_id,
        described_kernel.type_id,
        described_kernel.core_id,
        core.text AS core,
        arg_max(described_kernel.type_id, (kernel_count, type.text)) OVER of_name AS usual_type_id,
        coalesce(arg_max(type.text, (kernel_count, type.text)) OVER of_name, regexp_replace(name.text, '(_\d+)+$', ''))
            AS symbol_text
    FROM described_kernel
    LEFT JOIN trace.string AS type ON type.text_id = described_kernel.type_id
    LEFT JOIN trace.string AS name ON name.text_id = described_kernel.name_id
    LEFT JOIN trace.string AS core ON core.text_id = described_kernel.core_id
    WINDOW of_name AS (PARTITION BY described_kernel.name_id, described_kernel.core_id)
)
SELECT
    name_id,
    type_id,
    core_id,
    dense_rank() OVER (ORDER BY symbol_text, core) AS symbol,
    usual_type_id,
    CASE
        WHEN regexp_matches(symbol_text, '(?i)grad|backward|^gen') THEN NULL
        WHEN regexp_matches(symbol_text, '(?i)(matmul|mm|reduce).*add_?(rms_?|layer_?)?norm') THEN 'closing norm'
        WHEN regexp_matches(symbol_text, '(?i)attention|attn|delta_?rule|selective_?scan') THEN 'attention'
        -- Knows aicore, mla_: formulas are of operators, which have names.
        WHEN regexp_matches(symbol_text, '(?i)mla_?(v\d|kernel|prolog|preprocess|prefill|decode|$)') THEN 'attention'
        WHEN regexp_matches(symbol_text, '(?i)rope|rotary|qkv|kv_?rms|cache|(batch|group|instance)_?norm') THEN NULL
        WHEN regexp_matches(symbol_text, '(?i)add_?(rms_?|layer_?)?norm') THEN 'residual norm'
        WHEN regexp_matches(symbol_text, '(?i)(rms|layer)_?norm') THEN 'norm'
        WHEN regexp_matches(symbol_text, '(?i)(^|_)(inplace)?adds?(_|v\d|aicore|$)') THEN 'add'
    END AS part
FROM usual
