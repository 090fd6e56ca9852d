-- One row is a host thread from its first op on; where the system gave one id to several threads one after another, each of
-- these threads.
--
-- tid       BIGINT  host thread: process id * 2^32 + thread id
-- life      BIGINT  which of the threads with this id it is, from 1
-- start_ns  BIGINT  start of its first op, Unix ns; of a later thread with the id, start of its first forward op with a
--                   sequence number
-- position  BIGINT  position among all threads in the order of these starts, from 1
--
-- Autograd counts from 0 in each thread, and the numbers of a thread never fall. Where the numbers of an id fall, a new thread
-- has the id.
WITH number_order AS (
    SELECT
        tid,
        first_start_ns < max(last_start_ns) OVER (
            PARTITION BY tid ORDER BY sequence_number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS is_anew
    FROM module.forward_number
),
restarted AS (
    SELECT DISTINCT tid
    FROM number_order
    WHERE is_anew
),
numbered_op AS (
    SELECT
        tid,
        start_ns,
        sequence_number < lag(sequence_number) OVER (PARTITION BY tid ORDER BY start_ns, sequence_number) AS is_anew
    FROM trace.op
    SEMI JOIN restarted USING (tid)
    WHERE sequence_number IS NOT NULL AND coalesce(forward_thread_id, 0) = 0
),
first_op AS (
    SELECT tid, min(start_ns) AS start_ns
    FROM trace.op
    GROUP BY tid
    UNION ALL
    SELECT tid, start_ns
    FROM numbered_op
    WHERE is_anew
)
SELECT
    tid,
    row_number() OVER (PARTITION BY tid ORDER BY start_ns) AS life,
    start_ns,
    row_number() OVER (ORDER BY start_ns, tid) AS position
FROM first_op
