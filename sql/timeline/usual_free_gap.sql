-- One row is a gap of free.gap in the time of the step of timeline.usual_step.
--
-- @columns gap_id to kernel_after_id as in free.gap
SELECT gap.gap_id, gap.start_ns, gap.end_ns, gap.kernel_before_id, gap.kernel_after_id
FROM free.gap
-- All pairs: there is one usual step.
JOIN free.step_gap AS step ON gap.gap_id BETWEEN step.first_gap_id AND step.last_gap_id
JOIN timeline.usual_step AS usual ON usual.step_id IS NOT DISTINCT FROM step.step_id
