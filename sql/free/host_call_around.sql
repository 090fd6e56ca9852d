-- One row is a stretch of a host thread in a call into the software of the device that has a role, and the outermost such call.
--
-- tid          BIGINT   host thread: process id * 2^32 + thread id
-- start_ns     BIGINT   start, Unix ns
-- end_ns       BIGINT   end, Unix ns
-- host_api_id  BIGINT   the call, of trace.host_api
WITH call AS (
    SELECT host_api_id, tid, start_ns, end_ns
    FROM trace.host_api
    WHERE role IS NOT NULL AND end_ns > start_ns
)
SELECT tid, greatest(start_ns, coalesce(reached_ns, start_ns)) AS start_ns, end_ns, host_api_id
FROM reached_before(call, tid, host_api_id)
WHERE reached_ns IS NULL OR end_ns > reached_ns
