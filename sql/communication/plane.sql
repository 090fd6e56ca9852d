-- One row is a plane of a communication kernel with the time of its tasks.
--
-- kernel_id           BIGINT   a communication kernel of trace.kernel
-- plane               BIGINT   number of the plane
-- is_named            BOOLEAN  whether the profile names the master planes of the operator
-- is_master           BOOLEAN  whether the times of the operator are those of this plane; where the profile names none: the
--                              only plane, else plane 0 if it transfers over RDMA, else plane 1
-- transit_ps          BIGINT   transfers over a link, ps
-- wait_ps             BIGINT   waits for other ranks, ps
-- synchronization_ps  BIGINT   the waits that start before the first transfer, ps; all waits where nothing is transferred
WITH first_transfer AS (
    SELECT kernel_id, plane, min(start_ns) AS start_ns
    FROM communication.activity
    WHERE kind = 'transfer'
    GROUP BY kernel_id, plane
),
busy AS (
    SELECT
        activity.kernel_id,
        activity.plane,
        sum(duration_ps) FILTER (kind = 'transfer')::BIGINT AS transit_ps,
        sum(duration_ps) FILTER (kind = 'wait')::BIGINT AS wait_ps,
        sum(duration_ps) FILTER (
            kind = 'wait' AND (first_transfer.start_ns IS NULL OR activity.start_ns < first_transfer.start_ns)
        )::BIGINT AS synchronization_ps
    FROM communication.activity
    LEFT JOIN first_transfer ON first_transfer.kernel_id = activity.kernel_id AND first_transfer.plane = activity.plane
    GROUP BY activity.kernel_id, activity.plane
),
plane AS (
    SELECT
        kernel_id,
        plane,
        coalesce(bool_or(is_master), false) AS is_named,
        coalesce(bool_or(transport = 'RDMA'), false) AS has_rdma
    FROM trace.communication_task
    WHERE plane IS NOT NULL
    GROUP BY kernel_id, plane
),
with_master AS (
    SELECT
        kernel_id,
        plane,
        is_named AS is_named_itself,
        bool_or(is_named) OVER of_kernel AS is_named,
        CASE
            WHEN count(*) OVER of_kernel = 1 THEN plane
            WHEN bool_or(plane = 0 AND has_rdma) OVER of_kernel THEN 0
            ELSE 1
        END AS usual_master
    FROM plane
    WINDOW of_kernel AS (PARTITION BY kernel_id)
)
SELECT
    with_master.kernel_id,
    with_master.plane,
    with_master.is_named,
    if(with_master.is_named, with_master.is_named_itself, with_master.plane = with_master.usual_master) AS is_master,
    coalesce(busy.transit_ps, 0) AS transit_ps,
    coalesce(busy.wait_ps, 0) AS wait_ps,
    coalesce(busy.synchronization_ps, 0) AS synchronization_ps
FROM with_master
LEFT JOIN busy ON busy.kernel_id = with_master.kernel_id AND busy.plane = with_master.plane
