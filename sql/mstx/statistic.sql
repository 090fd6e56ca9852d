-- One row is an mstx mark or range by its message, with number and times on the host and on the device, and the kernels
-- launched inside it, the heaviest first.
--
-- @columns kind to kernel_duration_ns as in mstx.by_level
SELECT by_level.* EXCLUDE (is_of_step, step_id)
FROM mstx.by_level
LEFT JOIN trace.string AS domain ON domain.text_id = by_level.domain_id
LEFT JOIN trace.string AS message ON message.text_id = by_level.message_id
WHERE NOT by_level.is_of_step
ORDER BY
    host_total_ns DESC NULLS LAST,
    device_total_ns DESC NULLS LAST,
    event_count DESC,
    kind,
    producer,
    domain.text,
    message.text
