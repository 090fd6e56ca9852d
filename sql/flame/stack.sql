-- One row is the kernels that were launched from a Python stack, as a line of a flame graph. Options as in stack.by_stack;
-- without --under and --module, the times of all rows add up to all kernel time of the rank, or of the chosen step.
--
-- frames        VARCHAR[]  the frames of the stack, the outermost one first; the reason in parentheses, as in stack.by_stack,
--                          where there is no stack
-- kernel_count  BIGINT     kernels
-- duration_ns   BIGINT     their time, ns; overlapping kernels count fully
SELECT
    coalesce(frames, ['(' || reason || ')']) AS frames,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(device_ns)::BIGINT AS duration_ns
FROM stack.chosen
WHERE kernel_count > 0
GROUP BY frames, reason
ORDER BY reason IS NOT NULL, frames
