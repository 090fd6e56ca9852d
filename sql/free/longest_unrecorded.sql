-- One row is one of the 100 longest gaps that ended with a kernel whose launch is not recorded, the longest first. Where
-- neither ops nor calls on the host are recorded, it is any of them but an edge of the recording. A rank without rows of
-- free.unrecorded_launch has none.
--
-- @guard free.unrecorded_launch
--
-- @columns start_ns to duration_ns, kernel_after_id as in free.longest_gap
SELECT longest.start_ns, longest.end_ns - longest.start_ns AS duration_ns, kernel_after.name_id AS kernel_after_id
FROM free.longest
JOIN free.gap USING (gap_id)
JOIN trace.kernel AS kernel_after ON kernel_after.kernel_id = gap.kernel_after_id
WHERE EXISTS (FROM free.unrecorded_launch)
    AND (
        longest.cause = 'launch not recorded'
        OR longest.cause <> 'edge of the recording' AND NOT EXISTS (FROM trace.op) AND NOT EXISTS (FROM trace.host_api)
    )
ORDER BY longest.position
