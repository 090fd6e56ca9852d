-- One row is a communication operator with its time as transit, wait and idle, in the order of execution. The times are those
-- of the operator's master plane, as the profiler measures them; the longest wait of any plane has columns of its own. Where
-- the planes do not show which one is the master, or differ from what the profiler itself worked out, the profiler's figures
-- are taken.
--
-- kernel_id              BIGINT   a communication kernel of trace.kernel; NULL when only communication.json or analysis.db has
--                                 the operator
-- name                   VARCHAR  name of the operator; NULL when the profile lost its text
-- type                   VARCHAR  type, such as hcom_allReduce_; NULL when not known
-- operation              VARCHAR  operation of operators of this type, in lower case, such as allreduce; NULL without a type
-- kind                   VARCHAR  p2p (send and receive) or collective
-- group_name             VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- step_id                BIGINT   profiler step that the profile itself records for it; NULL in databases, and outside steps
-- start_ns               BIGINT   start, Unix ns; NULL without a kernel
-- elapse_ns              BIGINT   its time, ns: transit, wait and idle
-- transit_ns             BIGINT   transfers over a link, ns; NULL when not known: see reason
-- wait_ns                BIGINT   waits for other ranks, ns; NULL when not known: see reason
-- synchronization_ns     BIGINT   the part of wait_ns before the first transfer, ns; NULL when not known: see reason
-- idle_ns                BIGINT   the rest of elapse_ns, ns; NULL when not known: see reason
-- longest_waiting_plane  BIGINT   the plane that waited longest; NULL when planes are not known, or none waited
-- longest_plane_wait_ns  BIGINT   how long that plane waited, ns; NULL when planes are not known
-- waiting_ns             BIGINT   how long it waits for other ranks, ns: as long as the plane that waits longest, without what
--                                 the master plane transfers; other planes can wait while the master plane is idle; NULL when
--                                 waits are not known
-- size_bytes             BIGINT   bytes that all planes moved over links; NULL when not known
-- transfer_ns            BIGINT   time of these transfers, ns; overlapping transfers count fully; NULL when not known
-- bandwidth_gb_s         DOUBLE   size_bytes / transfer_ns, GB/s: of one link, as the profiler gives it, not of all links at
--                                 the same time; NULL when nothing was moved
-- origin                 VARCHAR  where the split comes from: planes (the tasks of the operator on them), profiler
--                                 (communication.json, analysis.db), or tasks (Level0: what the tasks of the operator do, on
--                                 planes and links that are not recorded; transfers within the device count as transit too);
--                                 NULL when it is not known
-- reason                 VARCHAR  why the split, or a part of it, is not known; NULL when all but synchronization_ns is
WITH longest AS (
    SELECT kernel_id, if(wait_ps > 0, plane, NULL) AS longest_waiting_plane, ns_of_ps(wait_ps) AS longest_plane_wait_ns
    FROM communication.plane
    QUALIFY row_number() OVER (PARTITION BY kernel_id ORDER BY wait_ps DESC, plane) = 1
),
moved_bytes AS (
    SELECT kernel_id, sum(size_bytes)::BIGINT AS size_bytes, ns_of_ps(sum(duration_ps)) AS transfer_ns
    FROM communication.transfer
    WHERE NOT is_within_device
    GROUP BY kernel_id
),
without_planes AS (
    SELECT DISTINCT kernel_id
    FROM trace.communication_task
    WHERE plane IS NULL
),
named_operator AS (
    SELECT
        kernel.kernel_id,
        name.text AS name,
        communication.operator_type AS type,
        communication.operation,
        if(trace_kernel.direction IS NULL, 'collective', 'p2p') AS kind,
        group_name.text AS group_name,
        trace_kernel.step_id,
        trace_kernel.start_ns,
        kernel.duration_ns AS elapse_ns
    FROM kernels.selected AS kernel
    JOIN trace.kernel AS trace_kernel USING (kernel_id)
    LEFT JOIN trace.communication USING (kernel_id)
    LEFT JOIN trace.string AS name ON name.text_id = kernel.name_id
    LEFT JOIN trace.string AS group_name ON group_name.text_id = communication.group_name_id
    WHERE kernel.kind = 'communication'
),
sourced AS (
    SELECT
        named_operator.kernel_id,
        greatest(abs(master.transit_ns - reported.transit_ns), abs(master.wait_ns - reported.wait_ns)) AS difference_ns,
        CASE
            WHEN master.has_planes
                AND master.transit_ns + master.wait_ns > 0
                AND (master.is_named OR coalesce(difference_ns, 0) <= 1000 OR reported.is_of_idle_plane)
                THEN 'planes'
            WHEN reported.is_of_idle_plane OR (reported.transit_ns IS NOT NULL AND reported.wait_ns IS NOT NULL)
                THEN 'profiler'
            WHEN NOT master.has_planes AND master.transit_ns + master.wait_ns > 0 THEN 'tasks'
        END AS origin,
        CASE
            WHEN without_planes.kernel_id IS NOT NULL AND master.has_planes IS NOT TRUE
                THEN 'its tasks name no plane' || coalesce(': ' || of_planes.reason, '')
            WHEN master.kernel_id IS NULL
                THEN 'the profile has no tasks of it' || coalesce(': ' || of_tasks.reason, '')
            WHEN master.transit_ns IS NULL THEN 'its tasks are on several planes, and nothing says which is the master plane'
            ELSE 'no task of its master plane waits, or transfers over a link'
        END AS reason
    FROM named_operator
    LEFT JOIN communication.master USING (kernel_id)
    LEFT JOIN communication.reported USING (kernel_id)
    LEFT JOIN without_planes USING (kernel_id)
    LEFT JOIN trace.unrecorded AS of_tasks ON of_tasks.what = 'communication tasks'
    LEFT JOIN trace.unrecorded AS of_planes ON of_planes.what = 'planes'
),
operator AS (
    SELECT
        named_operator.* REPLACE (
            coalesce(named_operator.name, reported.name) AS name,
            coalesce(named_operator.type, reported.type) AS type,
            coalesce(named_operator.operation, reported.operation) AS operation,
            if(named_operator.name IS NULL, coalesce(reported.kind, 'collective'), named_operator.kind) AS kind,
            coalesce(named_operator.group_name, reported.group_name) AS group_name,
            coalesce(named_operator.step_id, reported.step_id) AS step_id
        ),
        if(sourced.origin = 'profiler', reported.transit_ns, master.transit_ns) AS transit_ns,
        if(sourced.origin = 'profiler', reported.wait_ns, master.wait_ns) AS wait_ns,
        if(sourced.origin = 'profiler', reported.synchronization_ns, master.synchronization_ns) AS synchronization_ns,
        longest.longest_waiting_plane,
        longest.longest_plane_wait_ns,
        if(master.has_planes, moved_bytes.size_bytes, reported.size_bytes) AS size_bytes,
        if(master.has_planes, moved_bytes.transfer_ns, reported.transfer_ns) AS transfer_ns,
        sourced.origin,
        CASE
            WHEN sourced.origin IS NULL THEN sourced.reason
            WHEN sourced.origin = 'profiler' THEN reported.reason
        END AS reason
    FROM named_operator
    JOIN sourced USING (kernel_id)
    LEFT JOIN communication.master USING (kernel_id)
    LEFT JOIN longest USING (kernel_id)
    LEFT JOIN moved_bytes USING (kernel_id)
    LEFT JOIN communication.reported USING (kernel_id)
    UNION ALL BY NAME
    SELECT
        * EXCLUDE (idle_ns, is_of_idle_plane, reason),
        if(is_of_idle_plane OR (transit_ns IS NOT NULL AND wait_ns IS NOT NULL), 'profiler', NULL) AS origin,
        if(
            origin IS NULL,
            'the profile has no tasks of it, and the profiler worked out only its time',
            reason
        ) AS reason
    FROM communication.reported
    WHERE kernel_id IS NULL
)
SELECT
    kernel_id,
    name,
    type,
    operation,
    kind,
    group_name,
    step_id,
    start_ns,
    elapse_ns,
    if(origin IS NULL, NULL, transit_ns) AS transit_ns,
    if(origin IS NULL, NULL, wait_ns) AS wait_ns,
    if(origin IS NULL, NULL, synchronization_ns) AS synchronization_ns,
    if(origin IS NULL, NULL, elapse_ns - transit_ns - wait_ns) AS idle_ns,
    longest_waiting_plane,
    longest_plane_wait_ns,
    -- The profiler can report neither waits nor transfers of an operator that moved data.
    if(
        origin IS NOT NULL AND greatest(wait_ns, longest_plane_wait_ns) + transit_ns > 0,
        greatest(wait_ns, least(coalesce(longest_plane_wait_ns, 0), elapse_ns - transit_ns)),
        NULL
    ) AS waiting_ns,
    size_bytes,
    transfer_ns,
    size_bytes / nullif(transfer_ns, 0) AS bandwidth_gb_s,
    origin,
    reason
FROM operator
ORDER BY start_ns, name, kernel_id
