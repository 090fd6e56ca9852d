-- The flow from a mark or range to its device side begins at the position of its event, whether or not there is a device side;
-- events at the same position have their flows in the same order.
WITH record AS (
    SELECT
        event_id,
        event_type,
        row_number() OVER (PARTITION BY pid, tid, start_ns ORDER BY event_id) AS position,
        pid,
        tid,
        start_ns
    FROM raw.mstx
    WHERE event_type IN ('marker', 'marker_ex', 'push/pop', 'start/end')
),
flow AS (
    SELECT connection_id, row_number() OVER (PARTITION BY pid, tid, start_ns ORDER BY event_id) AS position, pid, tid, start_ns
    FROM raw.mstx_flow
    WHERE is_start
)
SELECT
    if(record.event_type IN ('push/pop', 'start/end'), record.event_id, NULL) AS range_id,
    if(record.event_type IN ('marker', 'marker_ex'), record.event_id, NULL) AS mark_id,
    flow.connection_id
FROM record
LEFT JOIN flow USING (pid, tid, start_ns, position)
