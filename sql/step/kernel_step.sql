-- One row is a compute or communication kernel, or a copy, and the step that it belongs to: the one in which the op that
-- launched it started. Where the step of no compute or communication kernel is known, no kernel has one: the few copies would
-- show steps that do nothing else.
--
-- kernel_id   BIGINT   a kernel of trace.kernel
-- step_id     BIGINT   a step of trace.step; NULL when it is of no step, as in kernels.step, and without steps
-- kind        ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernel; helpers that schedule communication
--                                                                   have no row
-- is_receive  BOOLEAN  whether it waits for another pipeline stage: it receives from another rank
-- start_ns    BIGINT   start, Unix ns
-- end_ns      BIGINT   end, Unix ns
WITH known_kernel AS (
    FROM kernels.step
    WHERE EXISTS (FROM trace.kernel SEMI JOIN kernels.step USING (kernel_id) WHERE kind IN ('compute', 'communication'))
       OR NOT EXISTS (FROM trace.kernel WHERE kind IN ('compute', 'communication'))
)
SELECT
    kernel.kernel_id,
    known_kernel.step_id,
    kernel.kind,
    coalesce(kernel.direction = 'receive', false) AS is_receive,
    kernel.start_ns,
    kernel.end_ns
FROM trace.kernel
LEFT JOIN known_kernel USING (kernel_id)
WHERE kernel.kind <> 'schedule'
