-- One row is a communication kernel, a pair of ranks and a link, and what the kernel moved between them. A step that was chosen is
-- not looked at.
--
-- kernel_id         BIGINT   a communication kernel of trace.kernel
-- source_rank       BIGINT   rank within the group; NULL when not recorded
-- destination_rank  BIGINT   rank within the group, the same one within a device; NULL when not recorded
-- link              VARCHAR  the link, such as HCCS; ON_CHIP within a device
-- transfer_count    BIGINT   transfers (Memcpy and Reduce_Inline)
-- size_bytes        BIGINT   what they moved
-- duration_ps       BIGINT   their time on all planes, ps; those at the same time count fully
SELECT
    task.kernel_id,
    task.source_rank,
    coalesce(task.destination_rank, task.source_rank) AS destination_rank,
    task.link,
    count(*) AS transfer_count,
    sum(task.size_bytes)::BIGINT AS size_bytes,
    sum(task.duration_ps)::BIGINT AS duration_ps
FROM trace.communication_task AS task
JOIN trace.string AS type ON type.text_id = task.type_id
WHERE type.text IN ('Memcpy', 'Reduce_Inline') AND task.link IS NOT NULL AND task.size_bytes IS NOT NULL
GROUP BY ALL
