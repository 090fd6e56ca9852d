-- One row is a gap of the device of 0.1 ms or more in which, by the records, the next kernel waits for another stream or an
-- event: its stream waits, or a copy runs, for half of the gap or longer; or the last thing that the host did on the thread
-- before the launch was to order a stream to wait.
--
-- gap_id  BIGINT  a gap of free.gap
WITH long AS (
    SELECT gap.gap_id, gap.start_ns, gap.end_ns, kernel.stream_id, kernel.launch_id
    FROM free.gap
    JOIN trace.kernel ON kernel.kernel_id = gap.kernel_after_id
    WHERE gap.end_ns - gap.start_ns >= 100_000
),
wait AS (
    SELECT stream_id, start_ns, max(end_ns) AS end_ns
    FROM trace.stream_wait
    WHERE stream_id IS NOT NULL
    GROUP BY stream_id, start_ns
),
copy AS (
    SELECT start_ns, max(end_ns) AS end_ns
    FROM trace.copy
    WHERE kernel_id IS NULL
    GROUP BY start_ns
),
launch_of_kernel AS (
    SELECT launch_id, min(start_ns) AS start_ns, arg_min(tid, pair_key(start_ns, tid)) AS tid
    FROM trace.launch
    SEMI JOIN long USING (launch_id)
    GROUP BY launch_id
),
ordered_wait AS (
    SELECT DISTINCT tid, start_ns
    FROM trace.stream_wait
    WHERE tid IS NOT NULL
),
waited_before AS (
    SELECT long.gap_id, launch_of_kernel.tid, launch_of_kernel.start_ns, ordered_wait.start_ns AS wait_start_ns
    FROM long
    JOIN launch_of_kernel USING (launch_id)
    ASOF JOIN ordered_wait ON ordered_wait.tid = launch_of_kernel.tid AND ordered_wait.start_ns < launch_of_kernel.start_ns
),
-- Launches before the first of these waits need not be put in order: without a wait 0.1 s of CPU in place of 0.8 at a million
-- kernels.
launched_before AS (
    SELECT DISTINCT tid, start_ns
    FROM trace.launch
    WHERE start_ns >= (SELECT min(wait_start_ns) FROM waited_before)
)
SELECT long.gap_id
FROM long
ASOF JOIN wait ON wait.stream_id = long.stream_id AND wait.start_ns < long.end_ns
WHERE (least(wait.end_ns, long.end_ns) - greatest(wait.start_ns, long.start_ns)) * 2 >= long.end_ns - long.start_ns
UNION
SELECT long.gap_id
FROM long
ASOF JOIN copy ON copy.start_ns < long.end_ns
WHERE (least(copy.end_ns, long.end_ns) - greatest(copy.start_ns, long.start_ns)) * 2 >= long.end_ns - long.start_ns
UNION
SELECT waited_before.gap_id
FROM waited_before
ASOF LEFT JOIN launched_before
    ON launched_before.tid = waited_before.tid AND launched_before.start_ns < waited_before.start_ns
WHERE coalesce(launched_before.start_ns < waited_before.wait_start_ns, true)
