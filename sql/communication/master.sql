-- One row is a communication kernel whose tasks say what they do, and the time of its master plane. Where the profile names
-- several master planes, time in which several of them are busy counts once, and a wait during a transfer does not count; so
-- it is with all tasks where the profile names no planes (Level0).
--
-- kernel_id           BIGINT   a communication kernel of trace.kernel
-- is_named            BOOLEAN  whether the profile names its master plane
-- has_planes          BOOLEAN  whether the profile names planes; where not, transfers within the device count too
-- transit_ns          BIGINT   transfers over a link, ns; NULL when nothing says which plane is the master
-- wait_ns             BIGINT   waits for other ranks, ns; NULL when nothing says which plane is the master
-- synchronization_ns  BIGINT   the part of wait_ns before the first transfer, ns; NULL when nothing says which plane is the
--                              master, or which transfer goes over a link
WITH of_plane AS (
    SELECT
        kernel_id,
        bool_or(is_named) AS is_named,
        count(*) FILTER (is_master) AS master_count,
        ns_of_ps(sum(transit_ps) FILTER (is_master)) AS transit_ns,
        ns_of_ps(sum(wait_ps) FILTER (is_master)) AS wait_ns,
        ns_of_ps(sum(synchronization_ps) FILTER (is_master)) AS synchronization_ns
    FROM communication.plane
    GROUP BY kernel_id
),
activity AS (
    SELECT
        activity.kernel_id,
        activity.kind,
        activity.start_ns,
        activity.end_ns,
        min(activity.start_ns) FILTER (activity.kind = 'transfer') OVER (PARTITION BY activity.kernel_id) AS first_transfer_ns
    FROM communication.activity
    JOIN communication.plane USING (kernel_id, plane)
    WHERE activity.kind <> 'copy'
      AND plane.is_master
      AND activity.kernel_id IN (SELECT kernel_id FROM of_plane WHERE master_count > 1)
    UNION ALL
    SELECT kernel_id, if(role = 'wait', 'wait', 'transfer') AS kind, start_ns, end_ns, NULL AS first_transfer_ns
    FROM trace.communication_task
    ANTI JOIN of_plane USING (kernel_id)
    WHERE plane IS NULL AND role IN ('wait', 'transfer')
),
stretch AS (
    SELECT kernel_id, 'transit' AS part, start_ns, end_ns
    FROM activity
    WHERE kind = 'transfer'
    UNION ALL
    SELECT kernel_id, 'busy' AS part, start_ns, end_ns
    FROM activity
    UNION ALL
    SELECT kernel_id, 'before' AS part, start_ns, least(end_ns, first_transfer_ns) AS end_ns
    FROM activity
    WHERE first_transfer_ns IS NULL OR start_ns < first_transfer_ns
),
united AS (
    SELECT
        kernel_id,
        coalesce(sum(added_ns) FILTER (part = 'transit'), 0)::BIGINT AS transit_ns,
        sum(added_ns) FILTER (part = 'busy')::BIGINT AS busy_ns,
        coalesce(sum(added_ns) FILTER (part = 'before'), 0)::BIGINT AS synchronization_ns
    FROM added(stretch, (kernel_id, part))
    GROUP BY kernel_id
)
SELECT
    kernel_id,
    coalesce(of_plane.is_named, false) AS is_named,
    of_plane.kernel_id IS NOT NULL AS has_planes,
    coalesce(united.transit_ns, of_plane.transit_ns) AS transit_ns,
    coalesce(united.busy_ns - united.transit_ns, of_plane.wait_ns) AS wait_ns,
    if(has_planes, coalesce(united.synchronization_ns, of_plane.synchronization_ns), NULL) AS synchronization_ns
FROM of_plane
FULL JOIN united USING (kernel_id)
