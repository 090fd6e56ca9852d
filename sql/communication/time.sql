-- One row is a communication operator with its module and its time as transit, wait and idle, in the order of execution. The
-- times are those of the operator's master plane, as the profiler measures them; the longest wait of any plane has columns of
-- its own.
--
-- @sum elapse_ns, transit_ns, wait_ns, synchronization_ns, idle_ns, size_bytes, transfer_ns
--
-- @columns kernel_id to type as in communication.breakdown
-- @columns kind to step_id as in communication.breakdown
-- location               VARCHAR  where the operator belongs: 'inside modules', 'outside modules', or 'linked to no op'
-- parent_module          VARCHAR  names of the enclosing modules joined by '/'; NULL outside modules
-- module                 VARCHAR  class name of the module; NULL outside modules
-- @columns start_ns to longest_plane_wait_ns as in communication.breakdown
-- @columns size_bytes to reason as in communication.breakdown
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
