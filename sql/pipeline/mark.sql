-- One row is a forward or backward pass of a micro-batch on the host, as the profile marks it: by ranges of the user whose
-- names say so; without them, by functions of the pipeline's schedule that the Python tracer recorded; without them, by calls
-- of the outermost module, and their backward. Ranges and functions that name only the forward, or only the backward, come
-- after all these. Of marks within each other on a thread only the outermost counts. With a step chosen, only passes that
-- began in it.
--
-- @unique root_call by start_ns, tid: outermost calls of a thread do not overlap
--
-- mark_id            BIGINT   the id, unique in the rank
-- kind               VARCHAR  forward, backward, both where they run at the same time, or weights: gradients of weights alone,
--                             as of schedules that take them apart
-- name               VARCHAR  name of the range, function or module
-- origin             VARCHAR  range, function, or module
-- micro_batch        BIGINT   number of the micro-batch: as the range says it, or by the forward call of a backward; NULL when
--                             neither is known
-- step_id            BIGINT   the step in which it began; NULL outside steps and without steps
-- start_ns           BIGINT   start on the host, Unix ns
-- end_ns             BIGINT   end on the host, Unix ns
-- device_start_ns    BIGINT   when the stream reached the range, Unix ns; NULL when it was given no stream
-- device_end_ns      BIGINT   when the stream reached its end, Unix ns; NULL when it was given no stream
WITH named_range AS (
    SELECT
        event.range_id AS id,
        'range' AS origin,
        coalesce(
            nullif(regexp_extract(message.text, '["'']name["'']\s*:\s*["'']([^"'']*)["'']', 1), ''), message.text
        ) AS name,
        TRY_CAST(
            nullif(regexp_extract(message.text, '(?i)micro_?batch(?:_id)?["'']?\s*[:=]?\s*(\d+)', 1), '') AS BIGINT
        ) AS micro_batch,
        event.tid,
        event.start_ns,
        event.start_ns + event.duration_ns AS end_ns,
        event.device_start_ns,
        event.device_start_ns + event.device_duration_ns AS device_end_ns
    FROM mstx.event
    JOIN trace.string AS message ON message.text_id = event.message_id
    ANTI JOIN module.range USING (range_id)
    WHERE event.kind = 'range' AND event.producer = 'user'
),
named_function AS (
    SELECT
        frame.frame_id AS id,
        'function' AS origin,
        regexp_extract(string.text, '\): (\w+)$', 1) AS name,
        frame.tid,
        frame.start_ns,
        frame.end_ns
    FROM trace.frame
    JOIN trace.string ON string.text_id = frame.name_id
    -- Megatron and MindSpeed; torch.distributed.pipelining; DeepSpeed.
    WHERE regexp_matches(
        string.text,
        '\.py\(\d+\): ((forward|backward)_step(_\w+)?|(forward|backward(_weight)?)_one_chunk|_exec_(for|back)ward_pass)$'
    )
),
mark_of_kind AS (
    SELECT *, pass_kind(name) AS kind
    FROM (FROM named_range UNION ALL BY NAME FROM named_function)
    WHERE pass_kind(name) IS NOT NULL
),
outermost_call AS (
    SELECT call.interval_id, interval.name_id, interval.tid, interval.start_ns, interval.end_ns
    FROM module.call
    JOIN module.interval USING (interval_id)
    WHERE call.parent_range_id IS NULL
        AND call.interval_id = call.range_id
        AND NOT call.is_backward
),
best_origin AS (
    SELECT origin
    FROM (
        SELECT
            origin,
            if(bool_or(kind IN ('forward', 'both')) AND bool_or(kind IN ('backward', 'both')), 3, 0) + (origin = 'range')::INT
                AS preference
        FROM mark_of_kind
        GROUP BY origin
        UNION ALL
        SELECT 'module', 2
        FROM outermost_call
    )
    ORDER BY preference DESC
    LIMIT 1
),
mark_of_origin AS (
    FROM mark_of_kind
    WHERE origin = (SELECT origin FROM best_origin)
),
outermost_mark AS (
    SELECT * EXCLUDE (reached_ns)
    FROM reached_before(mark_of_origin, tid, id)
    WHERE end_ns > coalesce(reached_ns, start_ns - 1)
),
root_call AS (
    SELECT *, row_number() OVER (ORDER BY start_ns, interval_id) AS place
    FROM outermost_call
    WHERE name_id = (
        SELECT outermost_call.name_id
        FROM outermost_call
        LEFT JOIN trace.string ON string.text_id = outermost_call.name_id
        GROUP BY outermost_call.name_id, string.text
        ORDER BY sum(outermost_call.end_ns - outermost_call.start_ns) DESC, string.text
        LIMIT 1
    )
),
backward_work AS (
    SELECT work.start_ns, work.end_ns, forward.tid, forward.start_ns AS forward_start_ns
    FROM module.call
    JOIN module.interval AS work USING (interval_id)
    JOIN module.interval AS forward ON forward.interval_id = call.range_id
    WHERE call.is_backward AND work.kind = 'backward'
),
of_module AS (
    SELECT interval_id AS id, 'forward' AS kind, name_id, place, start_ns, end_ns, start_ns AS forward_start_ns
    FROM root_call
    UNION ALL BY NAME
    SELECT
        root_call.interval_id AS id,
        'backward' AS kind,
        root_call.name_id,
        root_call.place,
        min(backward_work.start_ns) AS start_ns,
        max(backward_work.end_ns) AS end_ns,
        root_call.start_ns AS forward_start_ns
    FROM backward_work
    ASOF JOIN root_call ON root_call.tid = backward_work.tid AND root_call.start_ns <= backward_work.forward_start_ns
    WHERE backward_work.forward_start_ns < root_call.end_ns
    GROUP BY root_call.interval_id, root_call.name_id, root_call.place, root_call.start_ns
),
mark AS (
    SELECT *, start_ns AS forward_start_ns
    FROM outermost_mark
    UNION ALL BY NAME
    SELECT of_module.* EXCLUDE (name_id), 'module' AS origin, string.text AS name
    FROM of_module
    SEMI JOIN best_origin ON best_origin.origin = 'module'
    LEFT JOIN trace.string ON string.text_id = of_module.name_id
),
in_step AS (
    SELECT
        mark.*,
        if(mark.forward_start_ns < period.end_ns, period.step_id, NULL) AS step_id
    FROM mark
    ASOF LEFT JOIN step.period ON period.start_ns <= mark.forward_start_ns
)
SELECT
    row_number() OVER (ORDER BY start_ns, end_ns, kind, id) - 1 AS mark_id,
    kind,
    name,
    origin,
    coalesce(
        micro_batch,
        if(origin = 'module', place - min(place) OVER (PARTITION BY step_id, origin), NULL)
    ) AS micro_batch,
    step_id,
    start_ns,
    end_ns,
    device_start_ns,
    device_end_ns
FROM in_step
WHERE end_ns >= start_ns AND (getvariable('step_id') IS NULL OR step_id = getvariable('step_id'))
