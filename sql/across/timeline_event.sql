-- One row is an event of the timeline of a rank, in the Trace Event Format, which ui.perfetto.dev and chrome://tracing show.
--
-- profile  VARCHAR  folder of the rank, below the path that was opened
-- rank_id  INTEGER  rank; NULL when not recorded
-- event    VARCHAR  the event, a JSON object; that which names the process is not among them
WITH name AS (
    SELECT
        profile,
        rank_id,
        'process_sort_index' AS what,
        '"sort_index":' || pid AS value,
        pid,
        0 AS tid
    FROM across.timeline_rank
    UNION ALL
    SELECT
        profile,
        rank_id,
        unnest([
            {'what': 'thread_name', 'value': '"name":' || event_text(name)},
            {'what': 'thread_sort_index', 'value': '"sort_index":' || tid}
        ], recursive := true),
        pid,
        tid
    FROM across.timeline_track
),
track AS (
    SELECT *, concat('"pid":', pid, ',"tid":', tid) AS place
    FROM across.timeline_track
),
slice AS (
    SELECT
        profile,
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
        profile,
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
            event_member('step', step_id)
        )
    FROM timeline.kernel
)
SELECT profile, rank_id, '{"ph":"M","pid":' || pid || ',"tid":' || tid || ',"name":"' || what || '","args":{' || value || '}}'
    AS event
FROM name
UNION ALL
SELECT
    slice.profile,
    track.rank_id,
    slice_event(
        track.place, slice.start_ns - rank.base_ns, slice.duration_ns, slice.name, slice.category, slice.members
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
        rank.pid,
        ',"ts":"',
        event_us(counter.time_ns - rank.base_ns),
        '","name":',
        event_text(concat_ws(' ', counter.component, counter.counter)),
        if(
            counter.unit = 'byte',
            concat(',"args":{"bytes":', counter.value, '}}'),
            concat(',"args":{"%":', counter.value::DECIMAL(19, 0) * 0.0000000001::DECIMAL(10, 10), '}}')
        )
    )
FROM timeline.counter
JOIN across.timeline_rank AS rank USING (profile)
