-- One row is a time on a host thread that lies in module calls which are not in the recording, since they began before it or
-- ended after it.
--
-- tid       BIGINT  host thread: process id * 2^32 + thread id
-- start_ns  BIGINT  start, Unix ns; 0 at the start of the recording
-- end_ns    BIGINT  end, Unix ns; at the end of the recording the largest number
WITH cut_stretch AS (
    SELECT tid, edge, start_ns, end_ns FROM module.cut WHERE is_proven
    UNION ALL
    SELECT tid, 'end', start_ns, 9223372036854775807 FROM module.open_call WHERE is_proven
)
SELECT tid, min(start_ns) AS start_ns, max(end_ns) AS end_ns
FROM cut_stretch
GROUP BY tid, edge
