-- One row is an outermost module call of a thread that may have lost the calls around it, because these began before the
-- recording or ended after it: no outermost call of another kind lies between it and the beginning or end of the thread, and
-- its class is else seen inside other calls only.
--
-- interval_id  BIGINT   an interval of module.interval
-- tid          BIGINT   its host thread
-- edge         VARCHAR  start or end of the recording
-- distance     BIGINT   number from the edge, from 1
-- name_id      TEXT_ID  class name of the module
--
-- Nearly all recordings have none: their first and last outermost calls are of classes that are never inside others.
WITH inside AS (
    SELECT DISTINCT interval.tid, interval.name_id
    FROM module.interval
    JOIN module.interval_parent USING (interval_id)
    WHERE interval.kind = 'module' AND interval_parent.parent_id IS NOT NULL AND interval.tid >= 0
),
outermost AS (
    SELECT
        interval.interval_id,
        interval.tid,
        interval.name_id,
        inside.tid IS NOT NULL AS is_suspect,
        row_number() OVER (PARTITION BY interval.tid ORDER BY interval.interval_id) AS position,
        count(*) OVER (PARTITION BY interval.tid) AS call_count
    FROM module.interval
    JOIN module.interval_parent USING (interval_id)
    LEFT JOIN inside ON inside.tid = interval.tid AND inside.name_id = interval.name_id
    WHERE interval.kind = 'module' AND interval_parent.parent_id IS NULL AND interval.tid >= 0
),
whole AS (
    SELECT tid, min(position) AS first_position, max(position) AS last_position
    FROM outermost
    WHERE NOT is_suspect
    GROUP BY tid
),
placed_call AS (
    SELECT
        outermost.*,
        CASE WHEN position < first_position THEN 'start' WHEN position > last_position THEN 'end' END AS edge,
        if(position < first_position, position, call_count + 1 - position) AS distance
    FROM outermost
    -- All pairs: a thread has one row that says where its whole calls begin and end.
    JOIN whole USING (tid)
    WHERE first_position > 1 OR last_position < call_count
),
-- A class that is also outermost in the middle needs no calls around it.
usual AS (
    SELECT DISTINCT tid, name_id
    FROM placed_call
    WHERE edge IS NULL
),
stop AS (
    SELECT placed_call.tid, placed_call.edge, min(placed_call.distance) AS distance
    FROM placed_call
    JOIN usual USING (tid, name_id)
    WHERE placed_call.edge IS NOT NULL
    GROUP BY placed_call.tid, placed_call.edge
)
SELECT placed_call.interval_id, placed_call.tid, placed_call.edge, placed_call.distance, placed_call.name_id
FROM placed_call
LEFT JOIN stop ON stop.tid = placed_call.tid AND stop.edge = placed_call.edge
WHERE placed_call.edge IS NOT NULL AND coalesce(placed_call.distance < stop.distance, true)
