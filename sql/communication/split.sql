-- One row is a communication operator with its time as transit, wait and idle, in the order of execution. The times are those of
-- the operator's master plane, as the profiler counts them; what other planes waited stands beside.
--
-- kernel_id              BIGINT   a communication kernel of trace.kernel; NULL when only communication.json or analysis.db tell
--                                 of the operator
-- name                   VARCHAR  name of the operator; NULL when the profile lost its text
-- type                   VARCHAR  type, such as hcom_allReduce_; NULL when nothing tells it
-- kind                   VARCHAR  p2p (send and receive) or collective
-- group_name             VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- step_id                BIGINT   profiler step that the profile itself gives it; NULL in databases, and outside steps
-- start_ns               BIGINT   start, Unix ns; NULL without a kernel
-- elapse_ns              BIGINT   its time, ns: transit, wait and idle
-- transit_ns             BIGINT   transfers over a link, ns; NULL when not known: see reason
-- wait_ns                BIGINT   waits for other ranks, ns; NULL when not known: see reason
-- synchronization_ns     BIGINT   those of the waits that are before the first transfer, ns; NULL when not known: see reason
-- idle_ns                BIGINT   the rest, ns; NULL when not known: see reason
-- longest_waiting_plane  BIGINT   the plane that waited longest; NULL when planes are not known, or none waited
-- longest_plane_wait_ns  BIGINT   what that plane waited, ns; NULL when planes are not known
-- size_bytes             BIGINT   what all planes moved over links; NULL when not known
-- transfer_ns            BIGINT   time of these transfers, ns; those at the same time count fully; NULL when not known
-- bandwidth_gb_s         DOUBLE   size_bytes / transfer_ns: of one link, as the profiler gives it, not of all at the same time, GB/s;
--                                 NULL when nothing was moved
-- origin                 VARCHAR  what tells the split: planes (the tasks of the operator), or profiler (communication.json,
--                                 analysis.db); NULL when nothing
-- reason                 VARCHAR  why the split is not known; NULL when it is
WITH split AS (
    SELECT
        kernel_id,
        ns_of_ps(coalesce(sum(transit_ps) FILTER (is_master), 0)) AS transit_ns,
        ns_of_ps(coalesce(sum(wait_ps) FILTER (is_master), 0)) AS wait_ns,
        ns_of_ps(coalesce(sum(synchronization_ps) FILTER (is_master), 0)) AS synchronization_ns
    FROM communication.plane
    GROUP BY kernel_id
),
longest AS (
    SELECT kernel_id, if(wait_ps > 0, plane, NULL) AS longest_waiting_plane, ns_of_ps(wait_ps) AS longest_plane_wait_ns
    FROM communication.plane
    QUALIFY row_number() OVER (PARTITION BY kernel_id ORDER BY wait_ps DESC, plane) = 1
),
moved AS (
    SELECT kernel_id, sum(size_bytes)::BIGINT AS size_bytes, ns_of_ps(sum(duration_ps)) AS transfer_ns
    FROM communication.transfer
    WHERE link != 'ON_CHIP'
    GROUP BY kernel_id
),
without_planes AS (
    SELECT DISTINCT kernel_id
    FROM trace.communication_task
    WHERE plane IS NULL
),
named AS (
    SELECT
        kernel.kernel_id,
        name.text AS name,
        coalesce(type.text, type_of_communication(name.text)) AS type,
        group_name.text AS group_name,
        trace_kernel.step_id,
        trace_kernel.start_ns,
        kernel.duration_ns AS elapse_ns
    FROM kernel.chosen AS kernel
    JOIN trace.kernel AS trace_kernel USING (kernel_id)
    LEFT JOIN trace.communication USING (kernel_id)
    LEFT JOIN trace.string AS name ON name.text_id = kernel.name_id
    LEFT JOIN trace.string AS type ON type.text_id = kernel.type_id
    LEFT JOIN trace.string AS group_name ON group_name.text_id = communication.group_name_id
    WHERE kernel.kind = 'communication'
),
operator AS (
    SELECT
        named.* REPLACE (
            coalesce(named.group_name, recorded.group_name) AS group_name,
            coalesce(named.step_id, recorded.step_id) AS step_id
        ),
        if(split.kernel_id IS NULL, recorded.transit_ns, split.transit_ns) AS transit_ns,
        if(split.kernel_id IS NULL, recorded.wait_ns, split.wait_ns) AS wait_ns,
        if(split.kernel_id IS NULL, recorded.synchronization_ns, split.synchronization_ns) AS synchronization_ns,
        longest.longest_waiting_plane,
        longest.longest_plane_wait_ns,
        if(split.kernel_id IS NULL, recorded.size_bytes, moved.size_bytes) AS size_bytes,
        if(split.kernel_id IS NULL, recorded.transfer_ns, moved.transfer_ns) AS transfer_ns,
        CASE
            WHEN split.kernel_id IS NOT NULL THEN 'planes'
            WHEN recorded.transit_ns IS NOT NULL AND recorded.wait_ns IS NOT NULL THEN 'profiler'
        END AS origin,
        without_planes.kernel_id IS NOT NULL AS has_tasks
    FROM named
    LEFT JOIN split USING (kernel_id)
    LEFT JOIN longest USING (kernel_id)
    LEFT JOIN moved USING (kernel_id)
    LEFT JOIN without_planes USING (kernel_id)
    LEFT JOIN communication.recorded ON recorded.name = named.name
    UNION ALL BY NAME
    SELECT
        recorded.* EXCLUDE (kind, idle_ns),
        type_of_communication(recorded.name) AS type,
        if(recorded.transit_ns IS NOT NULL AND recorded.wait_ns IS NOT NULL, 'profiler', NULL) AS origin,
        false AS has_tasks
    FROM communication.recorded
    ANTI JOIN named USING (name)
)
SELECT
    kernel_id,
    name,
    type,
    if(is_point_to_point(name), 'p2p', 'collective') AS kind,
    group_name,
    step_id,
    start_ns,
    elapse_ns,
    transit_ns,
    wait_ns,
    synchronization_ns,
    elapse_ns - transit_ns - wait_ns AS idle_ns,
    longest_waiting_plane,
    longest_plane_wait_ns,
    size_bytes,
    transfer_ns,
    size_bytes / nullif(transfer_ns, 0) AS bandwidth_gb_s,
    origin,
    CASE
        WHEN origin IS NOT NULL THEN NULL
        WHEN has_tasks THEN 'its tasks name no plane: profiler_level was Level0'
        ELSE 'the profile has no tasks of it: profiler_level was Level0, or trace_view.json is missing'
    END AS reason
FROM operator
ORDER BY start_ns, kernel_id, name
