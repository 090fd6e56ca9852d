-- One row is an event of the timeline of a rank, in the Trace Event Format, which ui.perfetto.dev and chrome://tracing show.
--
-- profile  VARCHAR  folder of the rank, below the path that was opened
-- rank_id  INTEGER  rank; NULL when not recorded
-- event    VARCHAR  the event, a JSON object; a kernel and the arrow to it are one row. Those that name the process and its
--                   tracks are not among them
WITH track AS (
    SELECT *, concat('"pid":', process_id, ',"tid":', track_id) AS place
    FROM across.timeline_track
),
host_track AS (
    SELECT
        track.profile,
        track.rank_id,
        track.host_tid AS tid,
        track.lane,
        track.place,
        rank.base_ns - rank.host_offset_ns AS base_ns
    FROM track
    JOIN across.timeline_rank AS rank USING (profile)
    WHERE track.kind = 'host'
),
slice AS (
    SELECT
        profile,
        'step' AS kind,
        NULL::BIGINT AS device_id,
        NULL::BIGINT AS stream_id,
        lane,
        start_ns,
        end_ns - start_ns AS duration_ns,
        coalesce('"step ' || step_id || '"', '"all"') AS name,
        'step' AS category,
        concat(
            '"computing_ns":',
            computing_ns,
            event_member('communication_not_overlapped_ns', communication_not_overlapped_ns),
            event_member('overlapped_ns', overlapped_ns),
            event_member('free_ns', free_ns)
        ) AS members
    FROM timeline.step
    UNION ALL
    SELECT
        profile,
        'idle',
        NULL,
        NULL,
        0,
        start_ns,
        duration_ns,
        event_text(cause),
        'idle',
        concat(
            array_to_string(list_transform(causes, lambda part: concat('"', part.cause, ' (ns)":', part.duration_ns)), ','),
            event_member('before', event_text(kernel_before)),
            event_member('after', event_text(kernel_after)),
            event_member('step', step_id)
        )
    FROM timeline.gap
    UNION ALL
    SELECT
        profile,
        'module',
        device_id,
        stream_id,
        lane,
        start_ns,
        end_ns - start_ns,
        event_text(module),
        'module',
        concat(
            '"path":',
            event_text(path_of_module(parent_module, module)),
            event_member('kernels', kernel_count),
            event_member('kernel_ns', kernel_duration_ns),
            event_member('own_kernel_ns', own_duration_ns),
            event_member('step', step_id)
        )
    FROM timeline.module_call
),
-- The texts are made before joins, where equal ones are made once, and the arrow is put into the event at once: as a text of
-- its own that is joined, all events take 1.1 s of CPU more at a million kernels.
kernel AS (
    SELECT
        profile,
        kernel_id,
        device_id,
        stream_id,
        group_name,
        lane,
        start_ns,
        duration_ns,
        event_text(coalesce(name, '(name lost)')) AS name,
        kind::VARCHAR AS kind,
        if(
            module IS NULL,
            concat('"', 'no module', '":', coalesce(event_text(reason), 'null')),
            concat('"module":', event_text(path_of_module(parent_module, module)))
        ) AS in_module,
        event_member('op', event_text(op_name)) AS op,
        event_member('type', event_text(type)) AS type,
        event_member('input shapes', event_text(tensor_list(input_shapes))) AS input_shapes,
        event_member('step', step_id) AS step
    FROM timeline.kernel
),
-- Readers know arrows by their numbers alone, also where files of several ranks are open together.
launched_kernel AS (
    SELECT
        kernel.*,
        track.rank_id,
        track.place,
        rank.base_ns,
        launch.early_ns,
        if(launch.early_ns IS NULL, rank.process_id * 1000000000 + launch.arrow_id, NULL) AS arrow,
        start.place AS start_place,
        launch.start_ns - start.base_ns AS launch_ns,
        call.place AS call_place,
        launch.call_start_ns - call.base_ns AS call_ns
    FROM kernel
    LEFT JOIN timeline.launch ON launch.profile = kernel.profile AND launch.kernel_id = kernel.kernel_id
    JOIN across.timeline_rank AS rank ON rank.profile = kernel.profile
    JOIN track
        ON track.profile = kernel.profile
        AND track.kind = 'kernel'
        AND track.device_id IS NOT DISTINCT FROM kernel.device_id
        AND track.stream_id IS NOT DISTINCT FROM kernel.stream_id
        AND track.group_name IS NOT DISTINCT FROM kernel.group_name
        AND track.lane = kernel.lane
    LEFT JOIN host_track AS start
        ON start.profile = launch.profile AND start.tid = launch.tid AND start.lane = launch.lane
    LEFT JOIN host_track AS call
        ON call.profile = launch.profile AND call.tid = launch.call_tid AND call.lane = launch.call_lane
)
-- Before the arrows, which begin in these.
SELECT
    slice.profile,
    track.rank_id,
    if(
        slice.kind = 'mark',
        concat(
            '{"ph":"i","s":"t",',
            track.place,
            ',"ts":"',
            event_us(slice.start_ns - track.base_ns),
            '","name":',
            event_text(coalesce(slice.name, '(name lost)')),
            ',"cat":"mark"}'
        ),
        host_event(
            track.place,
            slice.start_ns - track.base_ns,
            slice.end_ns - slice.start_ns,
            event_text(coalesce(slice.name, if(slice.kind = 'collection', 'garbage collection', '(name lost)'))),
            slice.kind
        )
    ) AS event
FROM timeline.host_slice AS slice
LEFT JOIN timeline.host_lane USING (profile, slice_id)
JOIN host_track AS track
    ON track.profile = slice.profile AND track.tid = slice.tid AND track.lane = coalesce(host_lane.lane, 0)
UNION ALL
SELECT
    slice.profile,
    track.rank_id,
    slice_event(track.place, slice.start_ns - rank.base_ns, slice.duration_ns, slice.name, slice.category, slice.members)
FROM slice
JOIN track
    ON track.profile = slice.profile
    AND track.kind = slice.kind
    AND track.device_id IS NOT DISTINCT FROM slice.device_id
    AND track.stream_id IS NOT DISTINCT FROM slice.stream_id
    AND track.lane = slice.lane
JOIN across.timeline_rank AS rank ON rank.profile = slice.profile
UNION ALL
SELECT
    profile,
    rank_id,
    concat(
        '{"ph":"X",', place, ',"ts":"', event_us(start_ns - base_ns), '","dur":"', event_us(duration_ns), '","name":', name,
        ',"cat":"', kind, '","args":{', in_module, op, type, input_shapes, step,
        event_member('starts before its launch (ns)', early_ns), '}}',
        if(arrow IS NULL, '', concat(',', arrow_event('s', start_place, launch_ns, arrow))),
        if(arrow IS NULL OR call_place IS NULL, '', concat(',', arrow_event('t', call_place, call_ns, arrow))),
        if(arrow IS NULL, '', concat(',', arrow_event('f', place, start_ns - base_ns, arrow)))
    )
FROM launched_kernel
UNION ALL
SELECT
    counter.profile,
    rank.rank_id,
    concat(
        '{"ph":"C","pid":',
        rank.process_id,
        ',"ts":"',
        event_us(counter.time_ns - rank.base_ns),
        '","name":',
        event_text(concat_ws(' ', counter.component, counter.counter)),
        CASE counter.unit
            WHEN 'byte' THEN concat(',"args":{"bytes":', counter.value, '}}')
            WHEN '10^-12'
                THEN concat(',"args":{"%":', counter.value::DECIMAL(19, 0) * 0.0000000001::DECIMAL(10, 10), '}}')
            ELSE concat(',"args":{', event_text(coalesce(counter.unit, 'value')), ':', counter.value, '}}')
        END
    )
FROM timeline.counter
JOIN across.timeline_rank AS rank USING (profile)
