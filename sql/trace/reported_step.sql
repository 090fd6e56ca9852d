-- One row is a profiler step with its times as the profiler itself reported them: step_trace_time.csv, or analysis.db next to a
-- database.
--
-- @keep all
--
-- step_id                          BIGINT   profiler step; NULL without any
-- computing_ns                     BIGINT   time in which compute kernels ran, ns; NULL when not reported
-- communication_ns                 BIGINT   time in which communication ran, ns; NULL when not reported
-- communication_not_overlapped_ns  BIGINT   time in which communication ran without compute kernels, ns; NULL when not reported
-- overlapped_ns                    BIGINT   time in which communication and compute kernels ran, ns; NULL when not reported
-- free_ns                          BIGINT   time in which neither ran, ns; NULL when not reported
-- stage_ns                         BIGINT   from the first start to the last end, ns; NULL when not reported
-- bubble_ns                        BIGINT   time of receiving, ns; NULL when not reported
-- preparing_ns                     BIGINT   from the start of the step on the host to the first kernel, ns; NULL when not
--                                           reported
-- file                             VARCHAR  the file that reports the times
WITH measured_steps AS (
    SELECT DISTINCT device_id
    FROM trace.kernel
),
step_of_report AS (
    SELECT *, device_id IN (FROM measured_steps) AS is_measured
    FROM raw.recorded_step
)
SELECT
    TRY_CAST(regexp_extract(step, '(\d+)$', 1) AS BIGINT) AS step_id,
    computing_ns,
    communication_ns,
    communication_not_overlapped_ns,
    overlapped_ns,
    free_ns,
    stage_ns,
    bubble_ns,
    preparing_ns,
    file
FROM step_of_report
-- Where a database holds several devices, rows that name no device belong to the first one. A file that reports several devices
-- beside kernels of some of them tells of those.
WHERE if(
    getvariable('device_id') IS NULL,
    device_id IS NULL OR is_measured OR NOT EXISTS (FROM step_of_report WHERE is_measured),
    coalesce(device_id, getvariable('first_device_id')) = getvariable('device_id')
)
