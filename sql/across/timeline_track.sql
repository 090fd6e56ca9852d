-- One row is a track of the timeline of a rank: slices of one track never cross.
--
-- profile     VARCHAR  folder of the rank, below the path that was opened
-- rank_id     INTEGER  rank; NULL when not recorded
-- pid         BIGINT   as in across.timeline_rank
-- tid         BIGINT   number of the track, in the order in which they are shown; all have five digits, so that pid and tid,
--                      one after the other, name one track
-- kind        VARCHAR  'step', 'idle', 'module' or 'kernel': what its slices are
-- device_id   BIGINT   device of modules and kernels; NULL for others, and when not recorded
-- stream_id   BIGINT   stream of modules and kernels; NULL for others, and for communication whose tasks run on several
-- group_name  VARCHAR  group of ranks of communication without a stream; NULL for others, and when not recorded
-- lane        INTEGER  as in the tables of timeline; 0 for idle time
-- name        VARCHAR  what it is called
WITH found AS (
    SELECT DISTINCT profile, 1 AS position, 'step' AS kind, lane
    FROM timeline.step
    UNION ALL BY NAME
    SELECT DISTINCT profile, 2 AS position, 'idle' AS kind, 0 AS lane
    FROM timeline.gap
    UNION ALL BY NAME
    SELECT DISTINCT profile, 3 AS position, 'module' AS kind, device_id, stream_id, lane
    FROM timeline.module_call
    UNION ALL BY NAME
    SELECT DISTINCT profile, 3 AS position, 'kernel' AS kind, device_id, stream_id, group_name, lane
    FROM timeline.kernel
),
-- The stream on which most of the work runs comes first.
busy AS (
    SELECT profile, device_id, stream_id, sum(duration_ns) AS duration_ns
    FROM timeline.kernel
    GROUP BY profile, device_id, stream_id
)
SELECT
    rank.profile,
    rank.rank_id,
    rank.pid,
    10000 + row_number() OVER (
        PARTITION BY found.profile
        ORDER BY
            found.position,
            busy.duration_ns DESC NULLS LAST,
            found.device_id,
            found.stream_id,
            found.kind DESC,
            found.group_name,
            found.lane
    ) AS tid,
    found.kind,
    found.device_id,
    found.stream_id,
    found.group_name,
    found.lane,
    CASE found.kind
        WHEN 'step' THEN 'steps'
        WHEN 'idle' THEN 'idle'
        ELSE if(found.kind = 'module', 'modules', 'kernels') || coalesce(
            ', stream ' || found.stream_id, ', communication' || if(found.group_name IS NULL, '', ', ' || found.group_name)
        )
    END || if(found.lane = 0, '', ' (' || (found.lane + 1) || ')') AS name
FROM found
JOIN across.timeline_rank AS rank USING (profile)
LEFT JOIN busy
    ON busy.profile = found.profile
    AND busy.device_id IS NOT DISTINCT FROM found.device_id
    AND busy.stream_id IS NOT DISTINCT FROM found.stream_id
    AND found.position = 3
ORDER BY rank.pid, tid
