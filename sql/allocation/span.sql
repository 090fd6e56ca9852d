-- One row is a time between two marks in the history of the allocator of a device: its begin and end, and the starts and ends
-- of the ranges that the framework notes in it. Without such ranges it is the whole history.
--
-- @guard trace.memory_event
--
-- device_id     BIGINT   device
-- start_ns      BIGINT   the first mark, Unix ns
-- end_ns        BIGINT   the second mark, Unix ns
-- from_mark     ENUM('history', 'start', 'end')  the first mark: the begin of the history, or the start or end of a range
-- from_name_id  TEXT_ID  the range; NULL for the begin of the history
-- to_mark       ENUM('history', 'start', 'end')  the second mark: the end of the history, or the start or end of a range
-- to_name_id    TEXT_ID  the range; NULL for the end of the history
WITH edge AS (
    SELECT device_id, unnest([{mark: 'start', time_ns: start_ns}, {mark: 'end', time_ns: end_ns}]) AS one, name_id
    FROM trace.memory_range
),
edge_of_range AS (
    SELECT edge.device_id, edge.one.time_ns AS time_ns, edge.one.mark AS mark, edge.name_id
    FROM edge
    SEMI JOIN trace.memory_event AS event ON event.device_id = edge.device_id
    WHERE edge.one.time_ns IS NOT NULL
),
moment AS (
    SELECT device_id, time_ns
    FROM trace.memory_event
    UNION ALL
    SELECT device_id, time_ns
    FROM edge_of_range
),
history AS (
    SELECT device_id, min(time_ns) - 1 AS first_ns, max(time_ns) + 1 AS last_ns
    FROM moment
    GROUP BY device_id
),
mark AS (
    SELECT device_id, time_ns, mark, name_id
    FROM edge_of_range
    UNION ALL
    SELECT device_id, unnest([first_ns, last_ns]), 'history', NULL
    FROM history
),
-- Of several at one moment, the begin of what is inside others.
told_mark AS (
    SELECT
        mark.device_id,
        mark.time_ns,
        arg_max(mark.mark, (mark.mark, string.text)) AS mark,
        arg_max(mark.name_id, (mark.mark, string.text)) AS name_id
    FROM mark
    LEFT JOIN trace.string ON string.text_id = mark.name_id
    GROUP BY mark.device_id, mark.time_ns
),
followed_mark AS (
    SELECT
        *,
        lead(time_ns) OVER of_device AS next_ns,
        lead(mark) OVER of_device AS next_mark,
        lead(name_id) OVER of_device AS next_name_id
    FROM told_mark
    WINDOW of_device AS (PARTITION BY device_id ORDER BY time_ns)
)
SELECT
    device_id,
    time_ns AS start_ns,
    next_ns AS end_ns,
    mark::ENUM('history', 'start', 'end') AS from_mark,
    name_id AS from_name_id,
    next_mark::ENUM('history', 'start', 'end') AS to_mark,
    next_name_id AS to_name_id
FROM followed_mark
WHERE next_ns IS NOT NULL
ORDER BY device_id, start_ns
