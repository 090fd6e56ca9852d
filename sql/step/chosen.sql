-- One row is the step that was chosen; none where all steps count.
--
-- start_ns  BIGINT  start on the host, Unix ns; NULL when the rank does not have the step
-- end_ns    BIGINT  end on the host, Unix ns; NULL when the rank does not have the step
SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns
FROM trace.step
WHERE step_id = getvariable('step_id')
HAVING getvariable('step_id') IS NOT NULL
