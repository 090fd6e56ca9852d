-- One row is a description of an attention kernel and a layout in which its shapes can be read. FLOPs are those of the matrix
-- products: two forward, five backward.
--
-- @guard mfu.attention_shape
--
-- shape_id       BIGINT   a description of mfu.shape
-- layout         VARCHAR  BSH, SBH, BNSD, BSND or TND (a ragged batch: all sequences one after the other)
-- q_tokens       BIGINT   query tokens of a sequence; of all sequences in TND
-- kv_tokens      BIGINT   key tokens of a sequence; of all sequences in TND
-- batch          BIGINT   sequences; 1 in TND
-- flops_per_key  HUGEINT  FLOPs of all query tokens of a sequence with one key, over the batch
-- fits           BOOLEAN  whether heads and sequences, as far as the shapes show them, agree with the layout
-- is_told        BOOLEAN  whether the shapes alone determine the layout: they fit it, and no other one with other tokens
-- has_mask       BOOLEAN  whether a mask was given
-- has_lengths    BOOLEAN  whether lengths of sequences were given; their values are not in the shapes
-- paged_tokens   HUGEINT  keys that the pages of a sequence hold at most; NULL where the keys are not paged
--
-- The query has batch * q_tokens * heads * Dq elements, and the output Dv / Dq times as many, so the number of heads is not
-- needed, even where several heads share a key.
WITH input AS (
    SELECT
        shape.shape_id,
        shape.family,
        tensor.position,
        tensor.type,
        tensor.dims,
        tensor.element_count
    FROM mfu.attention_shape AS shape
    JOIN mfu.tensor USING (shape_id)
    WHERE NOT tensor.is_output
),
other AS (
    SELECT
        shape_id,
        bool_or(type IN ('BOOL', 'UINT8', 'INT8') AND len(dims) >= 2) AS has_mask,
        bool_or(type IN ('INT64', 'INT32') AND len(dims) = 1) AS has_lengths,
        max(dims[2]) FILTER (type = 'INT32' AND len(dims) = 2) AS page_count,
        max(element_count) FILTER (position = 25 AND family = 'inference attention') AS rope_count
    FROM input
    WHERE position > 3
    GROUP BY shape_id
),
-- The statistics of the softmax are [batch, heads, q_tokens, 8], and in a ragged batch [q_tokens, heads, 8].
softmax AS (
    SELECT shape_id, arg_min(tensor.dims, (tensor.is_output, tensor.position)) AS dims
    FROM mfu.attention_shape AS shape
    JOIN mfu.tensor USING (shape_id)
    WHERE (shape.family = 'attention' AND tensor.is_output OR shape.family = 'attention gradient' AND NOT tensor.is_output)
      AND (tensor.is_output OR tensor.position > 4)
      AND tensor.dims[-1] = 8
      AND len(tensor.dims) >= 3
      AND coalesce(tensor.type, 'FLOAT') = 'FLOAT'
    GROUP BY shape_id
),
described_shape AS (
    SELECT
        q.shape_id,
        q.family,
        q.dims AS q,
        k.dims AS k,
        softmax.dims AS softmax,
        q.element_count + coalesce(other.rope_count, 0) AS q_count,
        q.element_count::HUGEINT * v.dims[-1] // k.dims[-1] AS output_count,
        coalesce(other.has_mask, false) AS has_mask,
        coalesce(other.has_lengths, false) AS has_lengths,
        other.page_count::HUGEINT
            * CASE len(k.dims)
                WHEN 3 THEN k.dims[2]
                WHEN 4 THEN greatest(k.dims[2], k.dims[3])
                ELSE k.dims[4]
            END AS paged_tokens
    FROM input AS q
    JOIN input AS k ON k.shape_id = q.shape_id AND k.position = 2
    JOIN input AS v ON v.shape_id = q.shape_id AND v.position = 3
    LEFT JOIN other ON other.shape_id = q.shape_id
    LEFT JOIN softmax ON softmax.shape_id = q.shape_id
    WHERE q.position = 1 AND len(q.dims) BETWEEN 3 AND 4
),
layout AS (
    SELECT *
    FROM (
        VALUES
            ('BSH', 3, 1, 2, NULL),
            ('SBH', 3, 2, 1, NULL),
            ('TND', 3, NULL, 1, 2),
            ('BNSD', 4, 1, 3, 2),
            ('BSND', 4, 1, 2, 3)
    ) AS layout (layout, dim_count, batch_at, tokens_at, heads_at)
),
reading_of_shape AS (
    SELECT
        described_shape.*,
        layout.layout,
        q[tokens_at] AS q_tokens,
        k[tokens_at] AS kv_tokens,
        coalesce(q[batch_at], 1) AS batch,
        -- The statistics of the softmax, or the operator, can rule a layout out.
        CASE
            WHEN softmax IS NOT NULL AND layout = 'TND' THEN softmax[:2] = q[:2] AND len(softmax) = 3
            WHEN softmax IS NOT NULL THEN
                len(softmax) = 4 AND softmax[1] = q[batch_at] AND softmax[3] = q[tokens_at]
                AND coalesce(softmax[2] = q[heads_at], q[3] % softmax[2] = 0)
            WHEN family = 'inference attention' THEN layout <> 'SBH' AND (layout <> 'TND' OR has_lengths)
            ELSE true
        END
        AND (paged_tokens IS NOT NULL OR batch_at IS NULL OR k[batch_at] = q[batch_at])
        AND (paged_tokens IS NOT NULL OR heads_at IS NULL OR q[heads_at] % k[heads_at] = 0) AS fits
    FROM described_shape
    JOIN layout ON layout.dim_count = len(q)
    WHERE len(k) = len(q) OR paged_tokens IS NOT NULL
)
SELECT
    shape_id,
    layout,
    q_tokens,
    kv_tokens,
    batch,
    CASE family
        WHEN 'attention gradient' THEN 2 * (3 * q_count + 2 * output_count)
        ELSE 2 * (q_count + output_count)
    END AS flops_per_key,
    coalesce(fits, false) AS fits,
    coalesce(fits AND count(DISTINCT (q_tokens, kv_tokens)) FILTER (fits) OVER (PARTITION BY shape_id) = 1, false) AS is_told,
    has_mask,
    has_lengths,
    paged_tokens
FROM reading_of_shape
