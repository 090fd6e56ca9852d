-- One row is a frame of Python stacks, a place in the source, with the work of the ops that were called from it, or a reason
-- why the stack of work is not known; the largest time on the device first. A stack that holds a frame twice counts once for
-- it. Options as in stack.by_stack. Without --under and --module, the own times of all rows add up to those of all kernels and
-- all ops.
--
-- frame            VARCHAR  file, line and function: net.py(7): forward; NULL when not known, or without chosen frame
-- reason           VARCHAR  as in stack.by_stack
-- kernel_count     BIGINT   kernels launched from it, and from the code that it called
-- device_self_ns   BIGINT   time of the kernels that were launched from it, and not from a frame inside it, ns; overlapping
--                           kernels count fully
-- device_total_ns  BIGINT   time of all kernels launched from it, and from the code that it called, ns
-- share            DOUBLE   device_total_ns / time of all kernels; NULL when that is 0
-- backward_ns      BIGINT   the part of device_total_ns in the backward, which has the stack of its forward op
-- host_self_ns     BIGINT   the same as device_self_ns, of the ops on the host without that of the ops inside them, ns
-- host_total_ns    BIGINT   the same as device_total_ns, of the ops on the host, ns
WITH place AS (
    SELECT unnest(coalesce(list_distinct(frames), [NULL::VARCHAR])) AS frame, frames[-1] AS innermost, chosen.* EXCLUDE (frames)
    FROM stack.chosen
)
SELECT
    frame,
    reason,
    sum(kernel_count)::BIGINT AS kernel_count,
    coalesce(sum(device_ns) FILTER (frame IS NOT DISTINCT FROM innermost), 0)::BIGINT AS device_self_ns,
    sum(device_ns)::BIGINT AS device_total_ns,
    sum(device_ns) / nullif(max(all_ns), 0) AS share,
    coalesce(sum(device_ns) FILTER (is_backward), 0)::BIGINT AS backward_ns,
    coalesce(sum(host_ns) FILTER (frame IS NOT DISTINCT FROM innermost), 0)::BIGINT AS host_self_ns,
    sum(host_ns)::BIGINT AS host_total_ns
FROM place
GROUP BY frame, reason
ORDER BY device_total_ns DESC, host_total_ns DESC, frame, reason
