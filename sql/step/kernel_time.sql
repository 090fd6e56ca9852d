-- One row is a kernel and the step for which its time on the device counts: its own; where steps overlap on the device, the one
-- whose turn it is (step.turn), and a kernel that runs in several turns has a row for its part of each. One that takes no time
-- stays in its own step.
--
-- kernel_id   BIGINT   a kernel of trace.kernel
-- step_id     BIGINT   the step; NULL for a kernel of no step, and without steps
-- kind        ENUM('compute', 'communication', 'copy', 'schedule')  kind, as in step.kernel_step
-- is_receive  BOOLEAN  as in step.kernel_step
-- start_ns    BIGINT   start, Unix ns
-- end_ns      BIGINT   end, Unix ns
-- is_last     BOOLEAN  whether the kernel ends there, so that each kernel is the last of one row
SELECT kernel_id, step_id, kind, is_receive, start_ns, end_ns, true AS is_last
FROM step.kernel_step
WHERE step_id IS NULL OR start_ns = end_ns OR NOT EXISTS (FROM step.overlap)
UNION ALL
-- Turns follow each other, and the kernels of steps lie in them.
SELECT
    kernel.kernel_id,
    turn.step_id,
    kernel.kind,
    kernel.is_receive,
    greatest(kernel.start_ns, turn.start_ns) AS start_ns,
    least(kernel.end_ns, turn.end_ns) AS end_ns,
    kernel.end_ns <= turn.end_ns AS is_last
FROM step.kernel_step AS kernel
JOIN step.turn AS turn ON kernel.start_ns < turn.end_ns AND kernel.end_ns > turn.start_ns
WHERE kernel.step_id IS NOT NULL AND kernel.end_ns > kernel.start_ns AND EXISTS (FROM step.overlap)
