-- One row is an activity of a plane of a communication kernel in a stretch of time: a transfer over a link, a copy within the
-- device, or a wait for another rank. A transfer over RDMA consists of several tasks: those that post the payload, then a
-- message to the other rank and a wait for its answer; between more than two ranks, a second such pair follows. It lasts from
-- the start of the first task to the end of the last.
--
-- @unique rdma_transfer by first_position, kernel_id, plane: batches of tasks do not overlap
--
-- kernel_id         BIGINT   a communication kernel of trace.kernel
-- plane             BIGINT   number of the plane
-- kind              ENUM('transfer', 'copy', 'wait')  over a link, within the device, or for another rank
-- start_ns          BIGINT   start, Unix ns
-- end_ns            BIGINT   end, Unix ns
-- duration_ps       BIGINT   its time, ps; NULL when it is too long for a BIGINT
-- source_rank       BIGINT   rank within the group; NULL when not recorded
-- destination_rank  BIGINT   rank within the group; the source itself within a device; NULL when not recorded
-- link              VARCHAR  the link, such as HCCS; ON_CHIP within a device; NULL for waits, and when not recorded
-- transfer_count    BIGINT   tasks that move data; NULL for waits
-- size_bytes        BIGINT   bytes moved; NULL for waits, and when not recorded
WITH task AS (
    SELECT *, coalesce(transport = 'RDMA', false) AS is_rdma
    FROM trace.communication_task
    WHERE plane IS NOT NULL
),
rdma_plane AS (
    SELECT DISTINCT kernel_id, plane
    FROM task
    WHERE is_rdma
),
rdma_task AS (
    SELECT
        task.*,
        row_number() OVER in_order AS position,
        is_rdma AND coalesce(lead(is_rdma) OVER in_order, false) AS is_payload
    FROM task
    SEMI JOIN rdma_plane USING (kernel_id, plane)
    WINDOW in_order AS (PARTITION BY kernel_id, plane ORDER BY start_ns, end_ns, is_rdma DESC, role)
),
payload AS (
    SELECT *, position - row_number() OVER (PARTITION BY kernel_id, plane ORDER BY position) AS batch
    FROM rdma_task
    WHERE is_payload
),
batch AS (
    SELECT
        kernel_id,
        plane,
        min(position) AS first_position,
        -- Between two ranks one message and one wait follow; between more ranks two of each.
        max(position) + if(kernel.direction IS NULL, 4, 2) AS last_position,
        min(payload.start_ns) AS start_ns,
        min(source_rank) AS source_rank,
        min(destination_rank) AS destination_rank,
        count(*) AS transfer_count,
        sum(size_bytes)::BIGINT AS size_bytes
    FROM payload
    JOIN trace.kernel USING (kernel_id)
    GROUP BY kernel_id, plane, batch, kernel.direction
),
rdma_transfer AS (
    SELECT
        batch.*,
        closing.end_ns,
        TRY((closing.start_ns - batch.start_ns) * 1000 + closing.duration_ps) AS duration_ps
    FROM batch
    JOIN rdma_task AS closing
        ON closing.kernel_id = batch.kernel_id AND closing.plane = batch.plane AND closing.position = batch.last_position
    WINDOW earlier AS (
        PARTITION BY batch.kernel_id, batch.plane
        ORDER BY batch.first_position
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
    QUALIFY batch.first_position > coalesce(max(batch.last_position) OVER earlier, 0)
),
plain_task AS (
    FROM task
    ANTI JOIN rdma_plane USING (kernel_id, plane)
    UNION ALL
    SELECT rdma_task.* EXCLUDE (position, is_payload)
    FROM rdma_task
    ASOF LEFT JOIN rdma_transfer
        ON rdma_transfer.kernel_id = rdma_task.kernel_id
        AND rdma_transfer.plane = rdma_task.plane
        AND rdma_transfer.first_position <= rdma_task.position
    WHERE NOT coalesce(rdma_task.position <= rdma_transfer.last_position, false)
),
activity AS (
    SELECT
        kernel_id,
        plane,
        CASE
            WHEN role = 'wait' THEN 'wait'
            WHEN is_within_device THEN 'copy'
            ELSE 'transfer'
        END AS kind,
        start_ns,
        end_ns,
        duration_ps,
        source_rank,
        coalesce(destination_rank, source_rank) AS destination_rank,
        if(role = 'transfer', link, NULL) AS link,
        if(role = 'transfer', 1, NULL) AS transfer_count,
        if(role = 'transfer', size_bytes, NULL) AS size_bytes
    FROM plain_task
    WHERE role = 'wait' OR (role = 'transfer' AND NOT is_rdma)
    UNION ALL BY NAME
    SELECT * EXCLUDE (first_position, last_position), 'transfer' AS kind, 'RDMA' AS link
    FROM rdma_transfer
)
SELECT
    kernel_id,
    plane,
    kind::ENUM('transfer', 'copy', 'wait') AS kind,
    start_ns,
    end_ns,
    duration_ps,
    source_rank,
    destination_rank,
    link,
    transfer_count,
    size_bytes
FROM activity
