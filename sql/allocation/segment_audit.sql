-- One row is a segment whose recorded sums are not those of its parts. Without rows, all add up to the byte.
--
-- @guard trace.memory_segment
--
-- @columns device_id to address as in trace.memory_segment
-- measure         ENUM('size', 'allocated', 'active', 'requested')  what was compared
-- recorded_bytes  BIGINT  what the segment says
-- part_bytes      BIGINT  what its parts add up to
WITH summed AS (
    SELECT
        segment.*,
        coalesce(sum(part.size_bytes), 0) AS size_of_parts,
        coalesce(sum(part.size_bytes) FILTER (part.state = 'allocated'), 0) AS allocated,
        coalesce(sum(part.size_bytes) FILTER (part.state <> 'free'), 0) AS active,
        coalesce(sum(part.requested_bytes) FILTER (part.state <> 'free'), 0) AS requested
    FROM trace.memory_segment AS segment
    LEFT JOIN trace.segment_part AS part USING (segment_id)
    GROUP BY ALL
),
compared AS (
    SELECT
        device_id,
        address,
        segment_id,
        unnest([
            {measure: 'size', recorded: size_bytes, parts: size_of_parts},
            {measure: 'allocated', recorded: allocated_bytes, parts: allocated},
            {measure: 'active', recorded: active_bytes, parts: active},
            {measure: 'requested', recorded: requested_bytes, parts: requested}
        ]) AS one
    FROM summed
)
SELECT
    device_id,
    address,
    one.measure::ENUM('size', 'allocated', 'active', 'requested') AS measure,
    one.recorded AS recorded_bytes,
    one.parts::BIGINT AS part_bytes
FROM compared
WHERE one.recorded <> one.parts
ORDER BY device_id, address, segment_id, measure
