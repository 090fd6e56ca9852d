-- One row is a call of a module in the picture of a step, on the stream on which modules took most time of their own. Calls
-- that take less than a 400th of the step are one row with others of their lane and depth in the same 400th.
--
-- step_id       BIGINT   the step; NULL for the whole profile
-- stream_id     BIGINT   the stream; NULL when not recorded
-- lane          INTEGER  its lane, as in timeline.module_call
-- depth         BIGINT   number of names in its path
-- is_backward   BOOLEAN  whether it is the backward of the module
-- name          VARCHAR  path of the module, of several calls that of the longest
-- since_ns      BIGINT   start, ns since the step began
-- until_ns      BIGINT   end, ns since the step began
-- duration_ns   BIGINT   time of the calls, ns
-- row_count     BIGINT   calls
WITH step AS (
    SELECT step_id, start_ns AS begin_ns, greatest((end_ns - start_ns) // 400, 1) AS slice_ns
    FROM timeline.step
),
busiest AS (
    SELECT step_id, device_id, stream_id
    FROM timeline.module_call
    GROUP BY step_id, device_id, stream_id
    QUALIFY row_number() OVER (PARTITION BY step_id ORDER BY sum(own_duration_ns) DESC, device_id, stream_id) = 1
),
call AS (
    SELECT
        step.step_id,
        step.begin_ns,
        call.call_id,
        call.stream_id,
        call.lane,
        call.depth,
        call.is_backward,
        path_of_module(call.parent_module, call.module) AS name,
        call.start_ns,
        call.end_ns,
        call.end_ns - call.start_ns AS duration_ns,
        if(call.end_ns - call.start_ns < slice_ns, (call.start_ns - begin_ns) // slice_ns, -call.call_id) AS slice
    FROM timeline.module_call AS call
    JOIN step ON step.step_id IS NOT DISTINCT FROM call.step_id
    JOIN busiest
        ON busiest.step_id IS NOT DISTINCT FROM call.step_id
        AND busiest.device_id IS NOT DISTINCT FROM call.device_id
        AND busiest.stream_id IS NOT DISTINCT FROM call.stream_id
)
SELECT
    step_id,
    stream_id,
    lane,
    depth,
    is_backward,
    arg_max(name, (duration_ns, -call_id)) AS name,
    min(start_ns) - begin_ns AS since_ns,
    max(end_ns) - begin_ns AS until_ns,
    sum(duration_ns)::BIGINT AS duration_ns,
    count(*) AS row_count
FROM call
GROUP BY step_id, begin_ns, stream_id, lane, depth, is_backward, slice
ORDER BY step_id, lane, depth, since_ns, is_backward, until_ns
