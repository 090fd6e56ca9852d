-- One row is a Python stack with the work of the ops that were called from it, or a reason why the stack of work is not known;
-- the largest time on the device first. With --user-code, stacks without frames of PyTorch and Python itself; with --under,
-- only those below such a frame; with --module, only work of such a module. Without these two, the times of all rows add up to
-- those of all kernels and all ops.
--
-- stack         VARCHAR  the frames, the outermost one first, separated by ';'; NULL when not known, or without chosen frame
-- reason        VARCHAR  why there is no stack: 'no user code', 'gradient hooks' and for kernels without op as in
--                        module.kernel, else 'op without stack'; NULL where there is one
-- kernel_count  BIGINT   kernels that the ops launched
-- device_ns     BIGINT   their time, ns; overlapping kernels count fully
-- share         DOUBLE   device_ns / time of all kernels; NULL when that is 0
-- backward_ns   BIGINT   the part of device_ns in the backward, which has the stack of its forward op
-- op_count      BIGINT   ops; without profiler steps
-- host_ns       BIGINT   their time on the host without that of the ops inside them, ns
SELECT
    array_to_string(frames, ';') AS stack,
    reason,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(device_ns)::BIGINT AS device_ns,
    sum(device_ns) / nullif(max(all_ns), 0) AS share,
    coalesce(sum(device_ns) FILTER (is_backward), 0)::BIGINT AS backward_ns,
    sum(op_count)::BIGINT AS op_count,
    sum(host_ns)::BIGINT AS host_ns
FROM stack.chosen
GROUP BY frames, reason
ORDER BY sum(device_ns) DESC, sum(host_ns) DESC, stack, reason
