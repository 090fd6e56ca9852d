-- One row is one of the longest gaps and the call into CANN that took most of it.
--
-- @unique thread_gap by end_ns, tid: gaps do not overlap
--
-- gap_id        BIGINT   a gap of free.longest
-- host_call_id  TEXT_ID  name of the call, on the thread that requested the next kernel or on the one that launched it; NULL
--                        when the profile lost its text
-- host_call_ns  BIGINT   how long it ran in the gap, ns
WITH thread_gap AS (
    SELECT DISTINCT
        longest.gap_id,
        longest.start_ns - clock.offset_ns AS start_ns,
        longest.end_ns - clock.offset_ns AS end_ns,
        unnest([request.tid, request.launch_tid]) AS tid
    FROM free.longest
    CROSS JOIN clock.offset AS clock
    JOIN free.request USING (gap_id)
),
-- Gaps do not overlap: a call that runs in any gap also runs in the first gap that ends after the call's start.
held AS (
    SELECT host_api.*
    FROM trace.host_api
    ASOF JOIN thread_gap ON thread_gap.tid = host_api.tid AND host_api.start_ns < thread_gap.end_ns
    WHERE thread_gap.start_ns < host_api.end_ns
),
within AS (
    SELECT
        thread_gap.gap_id,
        held.host_api_id,
        held.name_id,
        least(held.end_ns, thread_gap.end_ns) - greatest(held.start_ns, thread_gap.start_ns) AS duration_ns
    FROM thread_gap
    -- All pairs: the longest gaps are 100.
    JOIN held ON held.tid = thread_gap.tid AND held.start_ns < thread_gap.end_ns AND thread_gap.start_ns < held.end_ns
)
SELECT gap_id, arg_max_null(name_id, (duration_ns, -host_api_id)) AS host_call_id, max(duration_ns) AS host_call_ns
FROM within
GROUP BY gap_id
