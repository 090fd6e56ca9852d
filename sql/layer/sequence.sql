-- One row is a compute kernel of the model, on whichever of its streams, in the order in which they started.
--
-- sequence_position  BIGINT   position in the sequence, from 1
-- kernel_id          BIGINT   a kernel of trace.kernel
-- symbol             BIGINT   symbol of its type and core, as in layer.symbol
-- part               VARCHAR  its part in a layer, as in layer.symbol; a norm right after an add is a residual norm too; NULL
--                             where its name gives none
-- begins_attention   BOOLEAN  whether it is the first attention kernel since the last norm that adds the residual; false or
--                             NULL where part is NULL
-- type_id            TEXT_ID  operator type, such as MatMulV3, the usual one of kernels of its name; NULL when it is not known
-- core_id            TEXT_ID  cores it ran on, such as AI_CORE or MIX_AIC
-- stream_id          BIGINT   stream; NULL where streams are not recorded
--
-- A kernel that overlaps for half of its time or more with kernels of a busier stream of the model is left out.
WITH model_stream AS (
    SELECT *
    FROM layer.stream
    WHERE is_of_model
),
beside AS (
    SELECT overlap.kernel_id, sum(overlap.overlap_ns) AS overlap_ns
    FROM layer.overlap
    JOIN model_stream ON model_stream.busy_rank = overlap.other_rank
    WHERE other_rank < stream_rank
    GROUP BY overlap.kernel_id
),
ordered_kernel AS (
    SELECT
        row_number() OVER (ORDER BY kernel.start_ns, kernel.end_ns, kernel_id) AS sequence_position,
        kernel_id,
        symbol.symbol,
        symbol.part,
        symbol.usual_type_id AS type_id,
        kernel.core_id,
        kernel.stream_id
    FROM trace.kernel
    JOIN kernels.selected USING (kernel_id)
    JOIN model_stream
        ON model_stream.stream_id IS NOT DISTINCT FROM kernel.stream_id
        AND model_stream.device_id IS NOT DISTINCT FROM kernel.device_id
    JOIN layer.symbol AS symbol
        ON symbol.name_id IS NOT DISTINCT FROM kernel.name_id
        AND symbol.type_id IS NOT DISTINCT FROM kernel.type_id
        AND symbol.core_id IS NOT DISTINCT FROM kernel.core_id
    LEFT JOIN beside USING (kernel_id)
    WHERE selected.kind = 'compute' AND (beside.overlap_ns IS NULL OR 2 * beside.overlap_ns < kernel.duration_ns)
),
with_residual AS (
    SELECT * REPLACE (
        if(part = 'norm' AND lag(part) OVER (ORDER BY sequence_position) = 'add', 'residual norm', part) AS part
    )
    FROM ordered_kernel
)
SELECT
    sequence_position,
    kernel_id,
    symbol,
    part,
    part = 'attention'
    AND coalesce(
        last_value(if(part IN ('attention', 'residual norm', 'closing norm'), part, NULL) IGNORE NULLS)
            OVER (ORDER BY sequence_position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) <> 'attention',
        true
    ) AS begins_attention,
    type_id,
    core_id,
    stream_id
FROM with_residual
