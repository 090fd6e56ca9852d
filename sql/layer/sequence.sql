-- One row is a compute kernel of the main stream, the one with most compute time, in the order in which they started.
--
-- position       BIGINT   place in the sequence, from 1
-- kernel_id      BIGINT   a kernel of trace.kernel
-- symbol         BIGINT   stands for its type and core; where there are no types, for its name without numbers at its end
-- core_id        TEXT_ID  cores it ran on, such as AI_CORE or MIX_AIC
-- stream_id      BIGINT   the main stream; NULL where streams are not recorded
WITH compute AS (
    SELECT kernel_id, chosen.name_id, chosen.type_id, chosen.core_id, device_id, stream_id, start_ns, end_ns
    FROM kernel.chosen
    JOIN trace.kernel USING (kernel_id)
    WHERE chosen.kind = 'compute'
),
main_stream AS (
    SELECT device_id, stream_id
    FROM compute
    GROUP BY device_id, stream_id
    ORDER BY sum(end_ns - start_ns) DESC, device_id, stream_id
    LIMIT 1
),
on_main_stream AS (
    SELECT compute.*
    FROM compute
    JOIN main_stream
        ON main_stream.stream_id IS NOT DISTINCT FROM compute.stream_id
        AND main_stream.device_id IS NOT DISTINCT FROM compute.device_id
),
described AS (
    SELECT DISTINCT type_id, if(type_id IS NULL, name_id, NULL) AS name_id, core_id
    FROM on_main_stream
),
numbered AS (
    SELECT
        described.*,
        dense_rank() OVER (
            ORDER BY coalesce(type.text, regexp_replace(name.text, '(_\d+)+$', '')), core.text
        ) AS symbol
    FROM described
    LEFT JOIN trace.string AS type ON type.text_id = described.type_id
    LEFT JOIN trace.string AS name ON name.text_id = described.name_id
    LEFT JOIN trace.string AS core ON core.text_id = described.core_id
)
SELECT
    row_number() OVER (ORDER BY start_ns, end_ns, kernel_id) AS position,
    kernel_id,
    symbol,
    kernel.core_id,
    stream_id
FROM on_main_stream AS kernel
JOIN numbered
    ON numbered.type_id IS NOT DISTINCT FROM kernel.type_id
    AND numbered.core_id IS NOT DISTINCT FROM kernel.core_id
    AND numbered.name_id IS NOT DISTINCT FROM if(kernel.type_id IS NULL, kernel.name_id, NULL)
