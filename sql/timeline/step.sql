-- One row is a step on the device, from the start of its first kernel to the end of its last one, and where its time went, in
-- the order of time. Without steps, one row is the whole profile.
--
-- step_id        BIGINT   number of the step; NULL for the whole profile
-- lane           INTEGER  steps that overlap on the device lie in different lanes; 0 is the first
-- start_ns       BIGINT   start of its first kernel, Unix ns
-- end_ns         BIGINT   end of its last kernel, Unix ns
-- host_start_ns  BIGINT   start of the step on the host, Unix ns; NULL when not recorded, and for the whole profile
-- host_end_ns    BIGINT   end of the step on the host, Unix ns; NULL when not recorded, and for the whole profile
-- @columns computing_ns to preparing_ns as in step.time
-- copying_not_overlapped_ns  BIGINT  as in step.time
WITH span AS (
    SELECT step_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM step.kernel_step
    GROUP BY step_id
),
on_host AS (
    SELECT step_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM trace.step
    GROUP BY step_id
),
step AS (
    SELECT span.start_ns, span.end_ns, on_host.start_ns AS host_start_ns, on_host.end_ns AS host_end_ns, time.*
    FROM step.time
    JOIN span ON span.step_id IS NOT DISTINCT FROM time.step_id
    LEFT JOIN on_host ON on_host.step_id = time.step_id
    WHERE time.step_id IS NOT NULL OR NOT EXISTS (FROM trace.step)
),
in_lanes AS (
    SELECT
        list(step_id ORDER BY start_ns, end_ns, step_id) AS step_ids,
        lanes(list(start_ns ORDER BY start_ns, end_ns, step_id), list(end_ns ORDER BY start_ns, end_ns, step_id)) AS lanes
    FROM step
),
lane AS (
    SELECT unnest(step_ids) AS step_id, unnest(lanes) AS lane
    FROM in_lanes
)
SELECT
    step.step_id,
    lane.lane,
    step.start_ns,
    step.end_ns,
    step.host_start_ns,
    step.host_end_ns,
    step.computing_ns,
    step.communication_ns,
    step.communication_not_overlapped_ns,
    step.overlapped_ns,
    step.free_ns,
    step.stage_ns,
    step.bubble_ns,
    step.preparing_ns,
    step.copying_not_overlapped_ns
FROM step
JOIN lane ON lane.step_id IS NOT DISTINCT FROM step.step_id
ORDER BY step.start_ns, step.end_ns, step.step_id
