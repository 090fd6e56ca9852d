-- One row is a forward or backward pass of a micro-batch on the device, in the order of their starts. It lasts as long as the
-- stream was in its range, where the range was given a stream; else from the first start to the last end of the compute kernels
-- that were launched while the host was in it.
--
-- pipeline_stage  BIGINT   pipeline stage of the rank; NULL when not recorded
-- kind            VARCHAR  forward, backward, both where they run at the same time, or weights: gradients of weights alone
-- name            VARCHAR  name of the range, function or module that marks it
-- origin          VARCHAR  what marks it: range, function (of the schedule, in Python stacks), or module
-- micro_batch     BIGINT   number of the micro-batch, from 0; NULL for both and weights when it is not recorded
-- number_from     VARCHAR  where the number comes from: range, module (the forward call of a backward), or order: the passes of
--                          its kind are counted in each step, which is wrong where a rank has several stages of the model
--                          (interleaved, DualPipeV); NULL without a number
-- step_id         BIGINT   the step in which it began; NULL outside steps and without steps
-- host_start_ns   BIGINT   start on the host, Unix ns
-- host_end_ns     BIGINT   end on the host, Unix ns
-- start_ns        BIGINT   start on the device, Unix ns; NULL without kernels and without a stream
-- end_ns          BIGINT   end on the device, Unix ns; NULL without kernels and without a stream
-- duration_ns     BIGINT   end_ns - start_ns
-- kernel_count    BIGINT   compute kernels that were launched in it
-- computing_ns    BIGINT   time in which at least one of them ran, ns
WITH unasked AS (
    SELECT kernel.kernel_id, kernel.start_ns, kernel.end_ns, min(launch.start_ns) AS asked_ns
    FROM trace.kernel
    ANTI JOIN kernels.asked USING (kernel_id)
    JOIN trace.launch USING (launch_id)
    WHERE kernel.kind = 'compute'
    GROUP BY kernel.kernel_id, kernel.start_ns, kernel.end_ns
),
launched_kernel AS (
    SELECT kernel.start_ns, kernel.end_ns, asked.asked_ns
    FROM trace.kernel
    JOIN kernels.asked USING (kernel_id)
    WHERE kernel.kind = 'compute'
    UNION ALL
    SELECT start_ns, end_ns, asked_ns
    FROM unasked
),
mark_of_start AS (
    SELECT start_ns, max(end_ns) AS end_ns, arg_max(mark_id, (end_ns, mark_id)) AS mark_id
    FROM pipeline.mark
    GROUP BY start_ns
),
kernel_of_mark AS (
    SELECT mark.mark_id, kernel.start_ns, kernel.end_ns
    FROM launched_kernel AS kernel
    ASOF JOIN mark_of_start AS mark ON mark.start_ns <= kernel.asked_ns
    WHERE kernel.asked_ns < mark.end_ns
),
device_time AS (
    SELECT
        mark_id,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns,
        count(*) AS kernel_count,
        sum(added_ns)::BIGINT AS computing_ns
    FROM added(kernel_of_mark, mark_id)
    GROUP BY mark_id
),
numbered_mark AS (
    SELECT *, row_number() OVER (PARTITION BY step_id, kind ORDER BY start_ns, mark_id) - 1 AS number
    FROM pipeline.mark
)
SELECT
    parallel_rank.pipeline_stage,
    mark.kind,
    mark.name,
    mark.origin,
    coalesce(mark.micro_batch, if(mark.kind IN ('forward', 'backward'), mark.number, NULL)) AS micro_batch,
    CASE
        WHEN mark.micro_batch IS NOT NULL THEN mark.origin
        WHEN mark.kind IN ('forward', 'backward') THEN 'order'
    END AS number_from,
    mark.step_id,
    mark.start_ns AS host_start_ns,
    mark.end_ns AS host_end_ns,
    coalesce(mark.device_start_ns, on_device.start_ns) AS start_ns,
    if(mark.device_start_ns IS NULL, on_device.end_ns, mark.device_end_ns) AS end_ns,
    if(mark.device_start_ns IS NULL, on_device.end_ns, mark.device_end_ns)
        - coalesce(mark.device_start_ns, on_device.start_ns) AS duration_ns,
    coalesce(on_device.kernel_count, 0) AS kernel_count,
    coalesce(on_device.computing_ns, 0) AS computing_ns
FROM numbered_mark AS mark
LEFT JOIN device_time AS on_device USING (mark_id)
CROSS JOIN communication.parallel_rank
ORDER BY start_ns, mark.start_ns, mark.mark_id
