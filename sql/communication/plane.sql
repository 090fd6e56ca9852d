-- One row is a plane of a communication kernel with the time of its tasks.
--
-- kernel_id           BIGINT   a communication kernel of trace.kernel
-- plane               BIGINT   number of the plane
-- is_master           BOOLEAN  whether the times of the operator are those of this plane
-- transit_ps          BIGINT   transfers over a link (Memcpy and Reduce_Inline that are not ON_CHIP), ps
-- wait_ps             BIGINT   waits for other ranks (Notify_Wait), ps
-- synchronization_ps  BIGINT   those of the waits that start before the first transfer, ps; all of them where nothing is
--                              transferred
WITH task AS (
    SELECT
        task.kernel_id,
        task.plane,
        task.is_master,
        task.start_ns,
        task.duration_ps,
        type.text IN ('Memcpy', 'Reduce_Inline') AND task.link != 'ON_CHIP' AS is_transfer,
        type.text = 'Notify_Wait' AS is_wait
    FROM trace.communication_task AS task
    JOIN trace.string AS type ON type.text_id = task.type_id
    WHERE task.plane IS NOT NULL
),
first_transfer AS (
    SELECT kernel_id, plane, min(start_ns) AS start_ns
    FROM task
    WHERE is_transfer
    GROUP BY kernel_id, plane
)
SELECT
    task.kernel_id,
    task.plane,
    bool_or(task.is_master) AS is_master,
    coalesce(sum(task.duration_ps) FILTER (is_transfer), 0)::BIGINT AS transit_ps,
    coalesce(sum(task.duration_ps) FILTER (is_wait), 0)::BIGINT AS wait_ps,
    coalesce(
        sum(task.duration_ps) FILTER (is_wait AND (first_transfer.start_ns IS NULL OR task.start_ns < first_transfer.start_ns)), 0
    )::BIGINT AS synchronization_ps
FROM task
LEFT JOIN first_transfer ON first_transfer.kernel_id = task.kernel_id AND first_transfer.plane = task.plane
GROUP BY task.kernel_id, task.plane
