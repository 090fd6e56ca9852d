-- One row is a unit with the kernels in it, and the calls on the host that launched them. Helpers of communication, which run
-- in the time of its operators, do not count.
--
-- unit_id       BIGINT  a unit of compare.unit; NULL for kernels of no unit
-- kernel_count  BIGINT  kernels
-- launch_count  BIGINT  launches that they came from; a launch of a graph starts many kernels; NULL when the profile links none
--                       of the kernels to a launch
-- duration_ns   BIGINT  time of the kernels, ns; overlapping kernels count fully
SELECT
    kernel_of_unit.unit_id,
    count(*) AS kernel_count,
    nullif(count(DISTINCT trace_kernel.launch_id), 0) AS launch_count,
    sum(trace_kernel.duration_ns)::BIGINT AS duration_ns
FROM module.kernel
JOIN trace.kernel AS trace_kernel USING (kernel_id)
LEFT JOIN compare.kernel_of_unit USING (kernel_id)
WHERE kernel.kind <> 'schedule'
GROUP BY kernel_of_unit.unit_id
