-- One row is a direction of copies over all steps and ranks, those of no step included; the row of all copies comes first.
--
-- direction          VARCHAR  what they do, as in step.copy: all for all copies; NULL when not recorded
-- copy_count         BIGINT   copies
-- copying_ns         BIGINT   time with such a copy, ns
-- overlapped_ns      BIGINT   time with such a copy and a compute kernel or communication operator, ns
-- not_overlapped_ns  BIGINT   time with such a copy alone, ns
-- size_bytes         BIGINT   bytes of the copies whose bytes are recorded; NULL when those of none are
-- unsized_count      BIGINT   copies whose bytes are not recorded
SELECT
    direction::VARCHAR AS direction,
    sum(copy_count)::BIGINT AS copy_count,
    sum(copying_ns)::BIGINT AS copying_ns,
    sum(overlapped_ns)::BIGINT AS overlapped_ns,
    sum(not_overlapped_ns)::BIGINT AS not_overlapped_ns,
    sum(size_bytes)::BIGINT AS size_bytes,
    sum(unsized_count)::BIGINT AS unsized_count
FROM step.copy
GROUP BY direction
ORDER BY direction = 'all' DESC NULLS LAST, copying_ns DESC, direction
