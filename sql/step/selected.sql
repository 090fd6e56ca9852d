-- One row is a period of the chosen step; without a chosen step there are no rows.
--
-- start_ns  BIGINT  start on the host, Unix ns; NULL when the rank does not have the step, or does not say when it was
-- end_ns    BIGINT  end on the host, Unix ns; NULL when the rank does not have the step, or does not say when it was
SELECT period.start_ns, period.end_ns
FROM (SELECT getvariable('step_id')::BIGINT AS step_id) AS chosen
LEFT JOIN step.period USING (step_id)
WHERE chosen.step_id IS NOT NULL
