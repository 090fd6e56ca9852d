-- One row is what a plane of a communication kernel did at a time that matters: a transfer over a link, one within the device, or
-- a wait for another rank. A transfer over RDMA is several tasks: those that post the payload, and after them a message to the
-- other rank and a wait for its answer, and between more than two ranks another such pair. It lasts from the first to the last.
--
-- kernel_id         BIGINT   a communication kernel of trace.kernel
-- plane             BIGINT   number of the plane
-- kind              ENUM('transfer', 'copy', 'wait')  over a link, within the device, for another rank
-- start_ns          BIGINT   start, Unix ns
-- end_ns            BIGINT   end, Unix ns
-- duration_ps       BIGINT   its time, ps; NULL when no number holds it
-- source_rank       BIGINT   rank within the group; NULL when not recorded
-- destination_rank  BIGINT   rank within the group, the same one within a device; NULL when not recorded
-- link              VARCHAR  the link, such as HCCS; ON_CHIP within a device; NULL for waits, and when not recorded
-- transfer_count    BIGINT   tasks that move something; NULL for waits
-- size_bytes        BIGINT   what was moved; NULL for waits, and when not recorded
WITH role AS (
    SELECT text_id, if(text IN ('Notify_Wait', 'Notify Wait'), 'wait', 'move') AS role
    FROM trace.string
    WHERE text IN ('Notify_Wait', 'Notify Wait', 'Memcpy', 'Reduce_Inline', 'Reduce Inline')
),
task AS (
    SELECT task.*, coalesce(task.transport = 'RDMA', false) AS is_rdma, role.role
    FROM trace.communication_task AS task
    LEFT JOIN role ON role.text_id = task.type_id
    WHERE task.plane IS NOT NULL
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
        -- Between two ranks a message and a wait follow, between more two of each.
        max(position) + if(regexp_matches(name.text, '(?i)send|receive'), 2, 4) AS last_position,
        min(payload.start_ns) AS start_ns,
        min(source_rank) AS source_rank,
        min(destination_rank) AS destination_rank,
        count(*) AS transfer_count,
        sum(size_bytes)::BIGINT AS size_bytes
    FROM payload
    JOIN trace.kernel USING (kernel_id)
    LEFT JOIN trace.string AS name ON name.text_id = kernel.name_id
    GROUP BY kernel_id, plane, batch, name.text
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
-- Writers before 2024 name no link: then it is within the device where no other rank is named.
activity AS (
    SELECT
        kernel_id,
        plane,
        CASE
            WHEN role = 'wait' THEN 'wait'
            WHEN coalesce(link = 'ON_CHIP', coalesce(destination_rank, source_rank) IS NOT DISTINCT FROM source_rank) THEN 'copy'
            ELSE 'transfer'
        END AS kind,
        start_ns,
        end_ns,
        duration_ps,
        source_rank,
        coalesce(destination_rank, source_rank) AS destination_rank,
        if(role = 'move', link, NULL) AS link,
        if(role = 'move', 1, NULL) AS transfer_count,
        if(role = 'move', size_bytes, NULL) AS size_bytes
    FROM plain_task
    WHERE role = 'wait' OR (role = 'move' AND NOT is_rdma AND (transport IS DISTINCT FROM 'LOCAL' OR link IS NOT NULL))
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
    if(kind = 'copy', 'ON_CHIP', link) AS link,
    transfer_count,
    size_bytes
FROM activity
