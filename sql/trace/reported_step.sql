-- One row is a profiler step with its times as the profiler itself worked them out: step_trace_time.csv, or analysis.db beside
-- a database.
--
-- step_id                          BIGINT   profiler step; NULL where there are none
-- computing_ns                     BIGINT   time in which compute kernels ran, ns; NULL when the file does not say it
-- communication_ns                 BIGINT   time in which communication ran, ns; NULL when the file does not say it
-- communication_not_overlapped_ns  BIGINT   that of it without compute kernels beside, ns; NULL when the file does not say it
-- overlapped_ns                    BIGINT   that of it with compute kernels beside, ns; NULL when the file does not say it
-- free_ns                          BIGINT   time in which neither ran, ns; NULL when the file does not say it
-- stage_ns                         BIGINT   from the first start to the last end, ns; NULL when the file does not say it
-- bubble_ns                        BIGINT   time of receiving, ns; NULL when the file does not say it
-- preparing_ns                     BIGINT   from the start of the step on the host to the first kernel, ns; NULL when the file
--                                           does not say it
-- file                             VARCHAR  the file that says so
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
FROM raw.recorded_step
-- Where a database holds several devices, what names none belongs to the first of them.
WHERE getvariable('device_id') IS NULL OR coalesce(device_id, getvariable('first_device_id')) = getvariable('device_id')
