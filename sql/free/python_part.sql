-- One row is a part of free.host_part of 100 us or more in which the host ran no op though the device had nothing to do, and
-- the Python function that it ran meanwhile. Shorter parts are too many, and none of them costs much.
--
-- @guard trace.frame
--
-- gap_id       BIGINT   a gap of free.gap
-- start_ns     BIGINT   start of the part, Unix ns, on the clock of the host
-- function_id  TEXT_ID  the innermost call of a Python function that lasts for half of the part or more, by name; NULL when the
--                       profile lost it
WITH RECURSIVE part AS (
    SELECT
        row_number() OVER (ORDER BY host_part.gap_id, host_part.start_ns) AS item_id,
        host_part.gap_id,
        host_part.start_ns AS from_ns,
        host_part.end_ns AS until_ns,
        phase.tid,
        (host_part.start_ns + host_part.end_ns) // 2 AS start_ns,
        (host_part.start_ns + host_part.end_ns) // 2 AS end_ns
    FROM free.host_part
    JOIN free.host_phase AS phase ON phase.gap_id = host_part.gap_id AND phase.phase = 1
    WHERE host_part.cause = 'nothing recorded'
      AND host_part.is_late
      AND NOT host_part.is_launched
      AND host_part.end_ns - host_part.start_ns >= 100000
),
span AS (
    SELECT frame_id AS span_id, tid, start_ns, end_ns, parent_id, is_last_started
    FROM stack.frame_call
),
-- What lasts for half of a part runs in the middle of it.
climb AS (
    SELECT part.item_id, span_id AS frame_id, part.from_ns, part.until_ns
    FROM innermost(part, span)
    JOIN part USING (item_id)
    UNION ALL
    SELECT climb.item_id, frame.parent_id, climb.from_ns, climb.until_ns
    FROM climb
    JOIN stack.frame_call AS frame USING (frame_id)
    WHERE (least(frame.end_ns, climb.until_ns) - greatest(frame.start_ns, climb.from_ns)) * 2 < climb.until_ns - climb.from_ns
      AND frame.parent_id IS NOT NULL
)
SELECT part.gap_id, part.from_ns AS start_ns, frame.name_id AS function_id
FROM climb
JOIN stack.frame_call AS frame USING (frame_id)
JOIN part USING (item_id)
WHERE (least(frame.end_ns, part.until_ns) - greatest(frame.start_ns, part.from_ns)) * 2 >= part.until_ns - part.from_ns
ORDER BY part.gap_id, part.from_ns
