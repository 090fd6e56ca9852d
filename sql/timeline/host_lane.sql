-- One row is a slice of a host thread that begins in another one and ends after it: readers show it in a further lane alone.
--
-- slice_id  BIGINT   a slice of timeline.host_slice. All others lie in lane 0, where slices are apart or inside each other
-- lane      INTEGER  row of the thread in which it is drawn, 1 or more; slices of one such lane are apart
WITH span AS (
    SELECT slice_id AS span_id, tid, start_ns, end_ns
    FROM timeline.host_slice
),
-- Readers have no tolerance of nesting.
crossing_slice AS (
    SELECT slice.tid, slice.slice_id, slice.start_ns, slice.end_ns
    FROM parents(span, within_ns := 0) AS found
    JOIN timeline.host_slice AS slice ON slice.slice_id = found.span_id
    WHERE found.is_crossing
),
in_lanes AS (
    SELECT
        list(slice_id ORDER BY slice_id) AS slice_ids,
        lanes(list(start_ns ORDER BY slice_id), list(end_ns ORDER BY slice_id)) AS lanes
    FROM crossing_slice
    GROUP BY tid
),
lane AS (
    SELECT unnest(slice_ids) AS slice_id, unnest(lanes) + 1 AS lane
    FROM in_lanes
)
SELECT slice_id, lane::INTEGER AS lane
FROM lane
ORDER BY slice_id
