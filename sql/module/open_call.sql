-- One row is a thread on which module calls began that the recording does not hold, since they ended after it.
--
-- @guard trace.module_begin
--
-- tid        BIGINT   host thread: process id * 2^32 + thread id
-- start_ns   BIGINT   when the first of them began, Unix ns
-- is_proven  BOOLEAN  whether it is certain
--
-- What PyTorch does first in a call lies in no recorded call, and some call comes after it. Where functions are numbered, it is
-- certain if no later call has a caller that began before: such a call would say that the one in question had ended. Else it is
-- likely where no call comes before it, none of those after it is of a module that was called before, as in the second of
-- several steps, and there are more than one or two of them.
WITH begin_and_reach AS (
    SELECT
        *,
        coalesce(max(end_ns) OVER before > start_ns, false) AS is_inside,
        min(caller_id) OVER behind AS least_caller_id
    FROM trace.module_begin
    WINDOW
        before AS (
            PARTITION BY tid
            ORDER BY start_ns, end_ns DESC NULLS LAST, python_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        behind AS (
            PARTITION BY tid
            ORDER BY start_ns, end_ns DESC NULLS LAST, python_id
            ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        )
),
of_thread AS (
    SELECT
        tid,
        min(start_ns) FILTER (end_ns IS NOT NULL) AS first_ns,
        max(start_ns) FILTER (end_ns IS NOT NULL) AS last_ns,
        count(end_ns) AS call_count,
        count(*) - count(end_ns) AS entry_count,
        count(DISTINCT name_id) AS module_count
    FROM begin_and_reach
    WHERE NOT is_inside
    GROUP BY tid
),
lost AS (
    SELECT begin_and_reach.tid, begin_and_reach.start_ns, begin_and_reach.python_id IS NOT NULL AS is_proven
    FROM begin_and_reach
    -- All pairs: a thread has one row that says how many calls it has.
    JOIN of_thread USING (tid)
    WHERE begin_and_reach.end_ns IS NULL
        AND NOT begin_and_reach.is_inside
        AND begin_and_reach.start_ns < of_thread.last_ns
        AND if(
            begin_and_reach.python_id IS NULL,
            begin_and_reach.start_ns < of_thread.first_ns
                AND of_thread.entry_count + of_thread.call_count > 3
                AND of_thread.call_count = of_thread.module_count,
            begin_and_reach.least_caller_id >= begin_and_reach.caller_id
        )
)
SELECT tid, min(start_ns) AS start_ns, is_proven
FROM lost
GROUP BY tid, is_proven
