-- One row is a description of an attention with arguments, and its FLOPs.
--
-- @guard mfu.attention_mark
--
-- shape_id    BIGINT   a description of mfu.shape
-- message_id  TEXT_ID  the arguments
-- flops       BIGINT   FLOPs of the elements that the mask leaves; NULL where the arguments do not determine them
-- peer_flops  BIGINT   the same without half of the diagonal of a causal mask, as msprof-analyze counts; NULL without flops
-- reason      VARCHAR  why flops is NULL
--
-- For scaled_dot_product_attention, the mark holds only is_causal. In a ragged batch,
-- the lengths are the ends of the sequences; the list can be filled up with zeros.
WITH marked_range AS (
    SELECT DISTINCT shape_id, message_id
    FROM mfu.marked_kernel
),
parsed_range AS (
    SELECT
        marked_range.*,
        CASE WHEN json_valid(string.text) THEN string.text::JSON END AS arguments
    FROM marked_range
    LEFT JOIN trace.string ON string.text_id = marked_range.message_id
),
argument AS (
    SELECT
        shape_id,
        message_id,
        arguments IS NOT NULL AS is_readable,
        coalesce(upper(arguments->>'input_layout'), if(arguments->>'is_causal' IS NULL, NULL, 'BNSD')) AS layout,
        coalesce(
            TRY_CAST(arguments->>'sparse_mode' AS BIGINT),
            CASE lower(arguments->>'is_causal') WHEN 'true' THEN 2 WHEN 'false' THEN 0 END
        ) AS sparse_mode,
        TRY_CAST(coalesce(arguments->>'pre_tockens', arguments->>'pre_tokens', '2147483647') AS INTEGER)::BIGINT AS before,
        TRY_CAST(coalesce(arguments->>'next_tockens', arguments->>'next_tokens', '2147483647') AS INTEGER)::BIGINT AS after,
        lengths_of(arguments->'prefix') AS prefixes,
        lengths_of(arguments->'actual_seq_qlen') AS q_ends,
        lengths_of(arguments->'actual_seq_kvlen') AS kv_ends
    FROM parsed_range
),
read AS (
    SELECT
        argument.*,
        attention.q_tokens,
        attention.kv_tokens,
        attention.batch,
        attention.flops_per_key,
        attention.fits,
        -- Without a mask the default mode has no band either.
        if(argument.sparse_mode = 0 AND NOT attention.has_mask, 1, argument.sparse_mode) AS mode,
        argument.layout = 'TND' AS is_ragged
    FROM argument
    LEFT JOIN mfu.attention USING (shape_id, layout)
),
sequence AS (
    SELECT
        shape_id,
        message_id,
        CASE WHEN is_ragged THEN q_ends[number] - coalesce(q_ends[number - 1], 0) ELSE q_tokens END AS rows,
        CASE WHEN is_ragged THEN kv_ends[number] - coalesce(kv_ends[number - 1], 0) ELSE kv_tokens END AS columns,
        mode,
        before,
        after,
        prefixes[number] AS prefix,
        if(is_ragged OR mode IN (5, 6), 1, batch) AS sequences
    FROM read
    CROSS JOIN unnest(
        range(1, 1 + CASE WHEN is_ragged THEN len(q_ends) WHEN mode IN (5, 6) THEN batch ELSE 1 END)
    ) AS one (number)
    WHERE NOT is_ragged OR q_ends[number] <> 0 OR kv_ends[number] <> 0
),
area AS (
    SELECT
        shape_id,
        message_id,
        sum(sequences * mask_area(mode, rows, columns, before, after, prefix))::HUGEINT AS area,
        coalesce(sum(sequences * least(rows, columns)) FILTER (mode IN (2, 3)), 0)::HUGEINT AS diagonal,
        bool_and(coalesce(rows >= 0 AND columns >= 0, false)) AS has_lengths,
        bool_and(mode NOT IN (5, 6) OR coalesce(prefix BETWEEN 0 AND columns, false)) AS has_prefix
    FROM sequence
    GROUP BY shape_id, message_id
),
with_reason AS (
    SELECT
        read.*,
        area.area,
        area.diagonal,
        read.batch * read.q_tokens::HUGEINT AS queries,
        CASE
            WHEN NOT is_readable THEN 'the arguments in the mark cannot be read: the profiler cuts long messages'
            WHEN (layout IN ('BSH', 'SBH', 'BNSD', 'BSND', 'TND')) IS NOT TRUE THEN 'the layout in the mark is not known'
            WHEN fits IS NOT TRUE THEN 'the layout in the mark does not fit the shapes'
            WHEN sparse_mode IS NULL OR sparse_mode NOT BETWEEN 0 AND 6 THEN 'the sparse_mode in the mark is not known'
            WHEN is_ragged AND (len(q_ends) = len(kv_ends) AND len(q_ends) > 0) IS NOT TRUE
                THEN 'the mark holds no lengths of the sequences'
            WHEN has_lengths IS NOT TRUE OR (is_ragged AND (list_max(q_ends) > q_tokens OR list_max(kv_ends) > kv_tokens))
                THEN 'the lengths in the mark do not fit the shapes'
            WHEN NOT has_prefix THEN 'the mark holds no prefix that fits the shapes'
        END AS reason
    FROM read
    LEFT JOIN area USING (shape_id, message_id)
)
SELECT
    shape_id,
    message_id,
    if(reason IS NULL, TRY((flops_per_key * area // queries)::BIGINT), NULL) AS flops,
    if(reason IS NULL, TRY((flops_per_key * (2 * area - diagonal) // (2 * queries))::BIGINT), NULL) AS peer_flops,
    reason
FROM with_reason
