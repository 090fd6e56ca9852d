-- One row is a stream with compute kernels, and whether the model runs on it or it runs beside the model.
--
-- @columns device_id to first_ns as in layer.busy_stream
-- overlap_ns       BIGINT   part of total_ns in which a stream that joined before it is busy too, ns; 0 for another device
-- is_of_model      BOOLEAN  whether the model runs on it
--
-- A captured graph continues in another stream when one is full, and what comes before and after it runs on a third. Streams
-- that take turns are one sequence: from the busiest stream down, a stream joins if not more than a tenth of its time overlaps
-- with those that have joined. The others (shared experts beside the routed ones, helpers of communication) run beside.
WITH RECURSIVE pair AS (
    SELECT stream_rank, other_rank, sum(overlap_ns) AS overlap_ns
    FROM layer.overlap
    GROUP BY stream_rank, other_rank
),
beside AS (
    SELECT stream_rank AS busy_rank, list({other_rank: other_rank, overlap_ns: overlap_ns}) AS others
    FROM pair
    GROUP BY stream_rank
),
candidate AS (
    SELECT
        busy_rank,
        total_ns,
        coalesce(others, []) AS others,
        device_id IS NOT DISTINCT FROM first_value(device_id) OVER (ORDER BY busy_rank) AS is_on_device
    FROM layer.busy_stream
    LEFT JOIN beside USING (busy_rank)
),
joined_stream AS (
    SELECT busy_rank, [busy_rank] AS members, 0::BIGINT AS overlap_ns, true AS is_of_model
    FROM candidate
    WHERE busy_rank = 1
    UNION ALL
    SELECT
        busy_rank,
        if(is_on_device AND 10 * overlap_ns <= total_ns, list_append(members, busy_rank), members),
        overlap_ns,
        is_on_device AND 10 * overlap_ns <= total_ns
    FROM (
        SELECT
            candidate.busy_rank,
            total_ns,
            is_on_device,
            members,
            coalesce(
                list_sum([other.overlap_ns FOR other IN others IF list_contains(members, other.other_rank)]), 0
            )::BIGINT AS overlap_ns
        FROM joined_stream
        JOIN candidate ON candidate.busy_rank = joined_stream.busy_rank + 1
    )
)
SELECT device_id, stream_id, busy_rank, kernel_count, total_ns, first_ns, overlap_ns, is_of_model
FROM layer.busy_stream
JOIN joined_stream USING (busy_rank)
ORDER BY busy_rank
