-- One row is a rank and another one to which it moved data, over all links between them.
--
-- source       VARCHAR  the source: its rank in the whole job, or where this is not known its rank of the group
-- destination  VARCHAR  the destination, in the same way
-- size_bytes   BIGINT   bytes moved
-- duration_ns  BIGINT   time of the transfers, ns; overlapping transfers count fully
-- links        VARCHAR  the links, such as HCCS, joined by ', '; NULL when not recorded
-- is_slow      BOOLEAN  whether one of the links is slow, as in across.link; false also where that is not known
SELECT
    coalesce(source_global_rank::VARCHAR, source_rank || ' of ' || group_name) AS source,
    coalesce(destination_global_rank::VARCHAR, destination_rank || ' of ' || group_name) AS destination,
    sum(size_bytes)::BIGINT AS size_bytes,
    sum(duration_ns)::BIGINT AS duration_ns,
    string_agg(DISTINCT link, ', ' ORDER BY link) AS links,
    coalesce(bool_or(is_slow), false) AS is_slow
FROM across.link
WHERE NOT is_within_device
GROUP BY ALL
HAVING source IS NOT NULL AND destination IS NOT NULL
ORDER BY ALL
