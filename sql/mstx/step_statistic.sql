-- One row is an mstx mark or range by its message in one profiler step, as in mstx.statistic, the steps in their order. Marks
-- and ranges that began outside every step have no row.
--
-- step_id            BIGINT   the profiler step in which they began
-- @columns kind to kernel_duration_ns as in mstx.by_level
SELECT by_level.step_id, by_level.* EXCLUDE (is_of_step, step_id)
FROM mstx.by_level
LEFT JOIN trace.string AS domain ON domain.text_id = by_level.domain_id
LEFT JOIN trace.string AS message ON message.text_id = by_level.message_id
WHERE by_level.is_of_step
ORDER BY
    by_level.step_id,
    host_total_ns DESC NULLS LAST,
    device_total_ns DESC NULLS LAST,
    event_count DESC,
    kind,
    producer,
    domain.text,
    message.text
