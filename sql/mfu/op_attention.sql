-- One row is a description of an op that is an attention, forward or backward, and its FLOPs: those of the matrix products, two
-- forward, five backward.
--
-- @guard trace.op_input
--
-- shape_id    BIGINT   a description of mfu.op_shape
-- flops       HUGEINT  2 * heads * (Dq + Dv) * elements of the mask, backward 2 * heads * (3 * Dq + 2 * Dv) * elements; NULL
--                      where the shapes do not determine them
-- most_flops  HUGEINT  the same without a mask, as far as the shapes show
-- reason      VARCHAR  why flops is NULL
--
-- Heads are those of the queries, also where several share a key. A causal mask has all of
-- its diagonal, as in mfu.marked_flops.
WITH operand AS (
    SELECT
        *,
        dims_of(shapes[first_at]) AS q,
        dims_of(shapes[first_at + 1]) AS k,
        dims_of(shapes[first_at + 2]) AS v,
        input_values[causal_at] AS causal,
        coalesce(types[mask_at], '') NOT IN ('', 'Scalar')
        OR (aligned = 'by value' AND coalesce(input_values[window_at], '') <> '') AS has_mask,
        dims_of(shapes[lengths_at]) AS lengths,
        coalesce(types[lengths_at], '') <> '' AS has_lengths,
        coalesce(types[used_at], '') <> '' AS has_used,
        if(aligned = 'by value', '-1', coalesce(nullif(input_values[window_at], ''), '-1')) AS window_before,
        if(aligned = 'by value', '-1', coalesce(nullif(input_values[window_at + 1], ''), '-1')) AS window_after
    FROM mfu.op_shape
    WHERE form IN ('attention', 'attention gradient')
),
-- Ends of sequences are one more than sequences. Of one sequence they say nothing new.
read AS (
    SELECT
        *,
        layout = 'THD' OR has_lengths AS is_ragged,
        CASE WHEN len(q) = 3 THEN 1 WHEN len(q) = 4 THEN q[1] END AS batch,
        CASE WHEN len(q) = 3 OR layout = 'BSHD' THEN q[-2] ELSE q[2] END AS heads,
        CASE WHEN len(q) = 3 OR layout = 'BSHD' THEN k[-2] ELSE k[2] END AS kv_heads,
        CASE WHEN len(q) = 3 OR layout = 'BSHD' THEN q[-3] ELSE q[3] END AS q_tokens,
        CASE WHEN len(q) = 3 OR layout = 'BSHD' THEN k[-3] ELSE k[3] END AS kv_tokens,
        CASE WHEN len(q) = 3 OR layout = 'BSHD' THEN v[-3] ELSE v[3] END AS v_tokens,
        TRY_CAST(window_before AS INTEGER)::BIGINT AS before,
        TRY_CAST(window_after AS INTEGER)::BIGINT AS after,
        CASE
            WHEN aligned = 'by value' THEN CASE causal WHEN '0' THEN 1 WHEN '1' THEN 2 WHEN '2' THEN 3 END
            WHEN causal = 'False' THEN 1
            WHEN causal = 'True' THEN if(aligned = 'upper left', 2, 3)
        END AS mode
    FROM operand
),
measured_op AS (
    SELECT
        *,
        coalesce(
            len(k) = len(q) AND len(v) = len(q) AND len(q) = if(layout = 'THD', 3, 4)
            AND k[-1] = q[-1] AND v_tokens = kv_tokens AND heads % kv_heads = 0
            AND (len(q) = 3 OR k[1] = q[1] AND v[1] = q[1])
            AND greatest(q_tokens, kv_tokens) <= 4398046511104,
            false
        ) AS fits,
        2 * batch::HUGEINT * heads
            * if(form = 'attention gradient', 3 * q[-1] + 2 * v[-1], q[-1] + v[-1]) AS flops_per_pair,
        -- A window counts from the diagonal of the lower right; with a causal mask nothing after it does.
        CASE
            WHEN before >= 0 OR after >= 0 THEN
                mask_area(
                    4,
                    q_tokens,
                    kv_tokens,
                    if(before < 0, 4398046511104, before),
                    CASE WHEN mode = 3 THEN 0 WHEN after < 0 THEN 4398046511104 ELSE after END,
                    NULL
                )
            ELSE mask_area(mode, q_tokens, kv_tokens, NULL, NULL, NULL)
        END AS area
    FROM read
)
SELECT
    shape_id,
    if(why IS NULL, TRY(flops_per_pair * area), NULL) AS flops,
    if(fits, TRY(flops_per_pair * q_tokens * kv_tokens), NULL) AS most_flops,
    why AS reason
FROM (
    SELECT
        *,
        CASE
            WHEN NOT fits THEN 'the shapes do not fit the op'
            WHEN has_used OR is_ragged AND coalesce(lengths <> [2], true)
                THEN 'the lengths of the sequences are not in the shapes'
            WHEN has_mask THEN 'what the mask leaves out is not in the shapes'
            WHEN mode IS NULL OR before IS NULL OR after IS NULL THEN 'not recorded whether the mask is causal'
        END AS why
    FROM measured_op
)
