-- One row is the rank and the time in which its compute and communication kernels ran, idle time included. With a step chosen,
-- the kernels of that step.
--
-- elapsed_ns  BIGINT  from the first start to the last end, ns; NULL without kernels, and when that is 0
SELECT nullif(max(end_ns) - min(start_ns), 0) AS elapsed_ns
FROM module.kernel
WHERE kind <> 'schedule'
