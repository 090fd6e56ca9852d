-- One row is a communication operator with its module and its time as transit, wait and idle, in the order of execution. The
-- times are those of the operator's master plane, as the profiler counts them; what other planes waited stands beside.
--
-- kernel_id              BIGINT   a communication kernel of trace.kernel; NULL when only communication.json or analysis.db tell
--                                 of the operator
-- name                   VARCHAR  name of the operator; NULL when the profile lost its text
-- type                   VARCHAR  type, such as hcom_allReduce_; NULL when nothing tells it
-- kind                   VARCHAR  p2p (send and receive) or collective
-- group_name             VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- step_id                BIGINT   profiler step that the profile itself gives it; NULL in databases, and outside steps
-- location               VARCHAR  where it belongs: 'inside modules', 'outside modules', or 'linked to no op'
-- parent_module          VARCHAR  names of the enclosing modules joined by '/'; NULL outside modules
-- module                 VARCHAR  class name of the module; NULL outside modules
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
-- bandwidth_gb_s         DOUBLE   size_bytes / transfer_ns, GB/s: of one link, as the profiler gives it, not of all at the same
--                                 time; NULL when nothing was moved
-- origin                 VARCHAR  where the split comes from: planes (the tasks of the operator), or profiler
--                                 (communication.json, analysis.db); NULL when it is not known
-- reason                 VARCHAR  why the split is not known; NULL when it is
SELECT
    breakdown.kernel_id,
    breakdown.name,
    breakdown.type,
    breakdown.kind,
    breakdown.group_name,
    breakdown.step_id,
    coalesce(kernel.location, 'linked to no op') AS location,
    kernel.parent_module,
    kernel.module,
    breakdown.start_ns,
    breakdown.elapse_ns,
    breakdown.transit_ns,
    breakdown.wait_ns,
    breakdown.synchronization_ns,
    breakdown.idle_ns,
    breakdown.longest_waiting_plane,
    breakdown.longest_plane_wait_ns,
    breakdown.size_bytes,
    breakdown.transfer_ns,
    breakdown.bandwidth_gb_s,
    breakdown.origin,
    breakdown.reason
FROM communication.breakdown
LEFT JOIN module.kernel USING (kernel_id)
ORDER BY breakdown.start_ns, breakdown.name, breakdown.kernel_id
