-- One row is a track of a host thread in a timeline.
--
-- tid             BIGINT   host thread: process id * 2^32 + thread id
-- lane            INTEGER  as in timeline.host_lane; 0 for slices that are not there
-- role            VARCHAR  'main' for the thread that began the process, 'autograd' for one that ran backward ops, 'task queue'
--                          for one that ran tasks of the task queue; NULL for others
-- first_start_ns  BIGINT   start of its first slice, Unix ns, by the clock of the host
-- slice_count     BIGINT   its slices
-- frame_count     BIGINT   of these, calls of Python functions
WITH backward_thread AS (
    SELECT DISTINCT tid
    FROM trace.op
    WHERE forward_thread_id > 0
),
track AS (
    SELECT
        tid,
        coalesce(host_lane.lane, 0) AS lane,
        min(start_ns) AS first_start_ns,
        count(*) AS slice_count,
        count(*) FILTER (kind = 'frame') AS frame_count
    FROM timeline.host_slice
    LEFT JOIN timeline.host_lane USING (slice_id)
    GROUP BY ALL
)
SELECT
    track.tid,
    track.lane,
    CASE
        WHEN track.tid >> 32 = track.tid & 4294967295 THEN 'main'
        WHEN track.tid IN (SELECT tid FROM trace.queue_thread) THEN 'task queue'
        WHEN track.tid IN (SELECT tid FROM backward_thread) THEN 'autograd'
    END AS role,
    track.first_start_ns,
    track.slice_count,
    track.frame_count
FROM track
ORDER BY track.tid, track.lane
