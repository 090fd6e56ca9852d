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
-- Readers know arrows by their numbers alone, also where files of several ranks are open together. What leads to a kernel is
-- one text; what ends there is not, as the track of the kernel is not known here.
arrow AS (
    SELECT
        launch.profile,
        launch.kernel_id,
        launch.early_ns,
        rank.process_id * 1000000000 + launch.arrow_id AS arrow,
        concat(
            ',',
            arrow_event('s', start.place, launch.start_ns - start.base_ns, arrow),
            if(
                call.place IS NULL,
                '',
                concat(',', arrow_event('t', call.place, launch.call_start_ns - call.base_ns, arrow))
            ),
            ','
        ) AS from_launch
    FROM timeline.launch
    JOIN across.timeline_rank AS rank USING (profile)
    JOIN host_track AS start USING (profile, tid, lane)
    LEFT JOIN host_track AS call
        ON call.profile = launch.profile AND call.tid = launch.call_tid AND call.lane = launch.call_lane
),
slice AS (
    SELECT
        profile,
        NULL::BIGINT AS arrow,
        NULL::VARCHAR AS from_launch,
        'step' AS kind,
        NULL::BIGINT AS device_id,
        NULL::BIGINT AS stream_id,
        NULL::VARCHAR AS group_name,
        lane,
        start_ns,
        end_ns - start_ns AS duration_ns,
        coalesce('"step ' || step_id || '"', '"all"') AS name,
        'step' AS category,
        concat(
            event_member('computing_ns', computing_ns),
            event_member('communication_not_overlapped_ns', communication_not_overlapped_ns),
            event_member('overlapped_ns', overlapped_ns),
            event_member('free_ns', free_ns)
        ) AS members
    FROM timeline.step
    UNION ALL
    SELECT
        profile,
        NULL,
        NULL,
        'idle',
        NULL,
        NULL,
        NULL,
        0,
        start_ns,
        duration_ns,
        event_text(cause),
        'idle',
        concat(
            array_to_string(list_transform(causes, lambda part: event_member(part.cause || ' (ns)', part.duration_ns)), ''),
            event_member('before', event_text(kernel_before)),
            event_member('after', event_text(kernel_after)),
            event_member('step', step_id)
        )
    FROM timeline.gap
    UNION ALL
    SELECT
        profile,
        NULL,
        NULL,
        'module',
        device_id,
        stream_id,
        NULL,
        lane,
        start_ns,
        end_ns - start_ns,
        event_text(module),
        'module',
        concat(
            event_member('path', event_text(path_of_module(parent_module, module))),
            event_member('kernels', kernel_count),
            event_member('kernel_ns', kernel_duration_ns),
            event_member('own_kernel_ns', own_duration_ns),
            event_member('step', step_id)
        )
    FROM timeline.module_call
    UNION ALL
    SELECT
        kernel.profile,
        if(arrow.early_ns IS NULL, arrow.arrow, NULL),
        arrow.from_launch,
        'kernel',
        device_id,
        stream_id,
        group_name,
        lane,
        start_ns,
        duration_ns,
        event_text(coalesce(name, '(name lost)')),
        kind::VARCHAR,
        concat(
            event_member('module', event_text(path_of_module(parent_module, module))),
            event_member('no module', event_text(reason)),
            event_member('op', event_text(op_name)),
            event_member('type', event_text(type)),
            event_member('input shapes', event_text(tensor_list(input_shapes))),
            event_member('step', step_id),
            event_member('starts before its launch (ns)', arrow.early_ns)
        )
    FROM timeline.kernel
    LEFT JOIN arrow USING (profile, kernel_id)
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
    concat(
        slice_event(
            track.place, slice.start_ns - rank.base_ns, slice.duration_ns, slice.name, slice.category, slice.members
        ),
        if(
            slice.arrow IS NULL,
            '',
            concat(slice.from_launch, arrow_event('f', track.place, slice.start_ns - rank.base_ns, slice.arrow))
        )
    )
FROM slice
JOIN track
    ON track.profile = slice.profile
    AND track.kind = slice.kind
    AND track.device_id IS NOT DISTINCT FROM slice.device_id
    AND track.stream_id IS NOT DISTINCT FROM slice.stream_id
    AND track.group_name IS NOT DISTINCT FROM slice.group_name
    AND track.lane = slice.lane
JOIN across.timeline_rank AS rank ON rank.profile = slice.profile
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
