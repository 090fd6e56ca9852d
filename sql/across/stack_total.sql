-- One row is the work whose Python stack is known, or the work that has none for one reason, over all ranks; the largest time
-- on the device first.
--
-- reason        VARCHAR  why the stack is not known; NULL when it is
-- kernel_count  BIGINT   kernels that the ops launched
-- device_ns     BIGINT   their time, ns; overlapping kernels count fully
-- backward_ns   BIGINT   the part of device_ns in the backward, which has the stack of its forward op
-- host_ns       BIGINT   time of the ops on the host without that of the ops inside them, ns
-- stack_count   BIGINT   stacks; 0 where they are not known
SELECT
    reason,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(device_ns)::BIGINT AS device_ns,
    sum(backward_ns)::BIGINT AS backward_ns,
    sum(host_ns)::BIGINT AS host_ns,
    count(stack) AS stack_count
FROM across.stack
GROUP BY reason
ORDER BY device_ns DESC, host_ns DESC, reason
