-- One row is a track of the timeline of a rank: slices of one track never cross.
--
-- profile     VARCHAR  folder of the rank, below the path that was opened
-- rank_id     INTEGER  rank; NULL when not recorded
-- process_id  BIGINT   as in across.timeline_rank
-- track_id    BIGINT   number of the track, in the order in which they are shown; all have five digits, so that process_id and
--                      track_id, one after the other, name one track
-- kind        VARCHAR  'step', 'idle', 'host', 'module' or 'kernel': what its slices are
-- host_tid    BIGINT   thread of the host: process id * 2^32 + thread id; NULL for others
-- device_id   BIGINT   device of modules and kernels; NULL for others, and when not recorded
-- stream_id   BIGINT   stream of modules and kernels; NULL for others, and for communication whose tasks run on several
-- group_name  VARCHAR  group of ranks of communication without a stream; NULL for others, and when not recorded
-- lane        INTEGER  as in the tables of timeline; 0 for idle time
-- name        VARCHAR  what it is called; of a thread of the host without its number
WITH track_of_item AS (
    SELECT DISTINCT profile, 1 AS position, 'step' AS kind, lane
    FROM timeline.step
    UNION ALL BY NAME
    SELECT DISTINCT profile, 2 AS position, 'idle' AS kind, 0 AS lane
    FROM timeline.gap
    UNION ALL BY NAME
    SELECT profile, 3 AS position, 'host' AS kind, tid AS host_tid, lane, role
    FROM timeline.host_track
    UNION ALL BY NAME
    SELECT DISTINCT profile, 4 AS position, 'module' AS kind, device_id, stream_id, lane
    FROM timeline.module_call
    UNION ALL BY NAME
    SELECT DISTINCT profile, 4 AS position, 'kernel' AS kind, device_id, stream_id, group_name, lane
    FROM timeline.kernel
),
-- The stream on which most of the work runs comes first.
busy AS (
    SELECT profile, device_id, stream_id, sum(duration_ns) AS duration_ns
    FROM timeline.kernel
    GROUP BY profile, device_id, stream_id
),
-- The main thread comes first, then that with the most slices.
thread AS (
    SELECT profile, tid AS host_tid, bool_or(role = 'main') AS is_main, sum(slice_count) AS slice_count
    FROM timeline.host_track
    GROUP BY profile, tid
)
SELECT
    rank.profile,
    rank.rank_id,
    rank.process_id,
    10000 + row_number() OVER (
        PARTITION BY track_of_item.profile
        ORDER BY
            track_of_item.position,
            thread.is_main DESC NULLS LAST,
            thread.slice_count DESC NULLS LAST,
            track_of_item.host_tid,
            busy.duration_ns DESC NULLS LAST,
            track_of_item.device_id,
            track_of_item.stream_id,
            track_of_item.kind DESC,
            track_of_item.group_name,
            track_of_item.lane
    ) AS track_id,
    track_of_item.kind,
    track_of_item.host_tid,
    track_of_item.device_id,
    track_of_item.stream_id,
    track_of_item.group_name,
    track_of_item.lane,
    CASE track_of_item.kind
        WHEN 'step' THEN 'steps'
        WHEN 'idle' THEN 'idle'
        WHEN 'host' THEN coalesce(track_of_item.role || ' thread', 'thread')
        ELSE if(track_of_item.kind = 'module', 'modules', 'kernels') || coalesce(
            ', stream ' || track_of_item.stream_id,
            ', communication' || if(track_of_item.group_name IS NULL, '', ', ' || track_of_item.group_name)
        )
    END || if(track_of_item.lane = 0, '', ' (' || (track_of_item.lane + 1) || ')') AS name
FROM track_of_item
JOIN across.timeline_rank AS rank USING (profile)
LEFT JOIN thread USING (profile, host_tid)
LEFT JOIN busy
    ON busy.profile = track_of_item.profile
    AND busy.device_id IS NOT DISTINCT FROM track_of_item.device_id
    AND busy.stream_id IS NOT DISTINCT FROM track_of_item.stream_id
    AND track_of_item.position = 4
ORDER BY rank.process_id, track_id
