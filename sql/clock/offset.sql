-- One row is the rank: how far the clock of its device is off from that of its host, as far as the recorded times cannot both
-- be true. All that compares times of host and device moves those of the device by it; times of kernels stay as recorded.
--
-- offset_ns     BIGINT  clock of the device minus clock of the host, ns: a moment of the device less this is one of the host; 0
--                       where they agree to some tenths of a millisecond, as those of profilers do
-- linked_count  BIGINT  kernels whose launch is known, or else the op that launched them
-- early_count   BIGINT  of these, kernels that begin 0.1 ms or more before it by the recorded times
-- waited_count  BIGINT  calls that waited for the device; 0 where each kernel may have begun within 0.5 ms of its launch
-- late_count    BIGINT  of these, calls that return 0.5 ms or more before what was launched before them ends
--
-- An early clock shows by kernels that begin before their launch. Ten of them and one in a thousand make one, or in a small
-- profile three and one in five: fewer are damaged links. A late clock shows where no kernel begins within 0.5 ms of its
-- launch, though one in ten needs no more than 0.2 ms longer than the quickest, so the device was idle, and where most calls
-- that wait return too early. In both cases the quickest kernel then begins right at its launch. Clocks that drift apart are
-- moved as one.
WITH launch AS (
    SELECT launch_id, min(start_ns) AS start_ns
    FROM trace.launch
    GROUP BY launch_id
),
linked AS (
    SELECT
        coalesce(launch.start_ns, op.start_ns) AS launched_ns,
        kernel.start_ns - coalesce(launch.start_ns, op.start_ns) AS latency_ns,
        kernel.end_ns
    FROM trace.kernel
    LEFT JOIN launch USING (launch_id)
    LEFT JOIN module.kernel_op USING (kernel_id)
    LEFT JOIN trace.op USING (op_id)
    WHERE kernel.kind <> 'schedule' AND coalesce(launch.start_ns, op.start_ns) IS NOT NULL
),
counted AS (
    SELECT
        count(*) AS linked_count,
        count(*) FILTER (latency_ns <= -100_000) AS early_count,
        quantile_disc(latency_ns, 0.01) AS least_latency_ns,
        -- Without damaged links, which may lie anywhere.
        quantile_disc(-latency_ns, 0.95) FILTER (latency_ns <= -100_000) AS usual_early_ns
    FROM linked
),
early AS (
    SELECT max(-linked.latency_ns) AS early_ns
    FROM linked
    CROSS JOIN counted
    WHERE -linked.latency_ns * 4 <= counted.usual_early_ns * 5
        AND counted.early_count >= if(counted.early_count * 5 >= counted.linked_count, 3, 10)
        AND counted.early_count * 1000 >= counted.linked_count
),
delayed AS (
    SELECT linked.*, counted.least_latency_ns
    FROM linked
    CROSS JOIN counted
    WHERE counted.least_latency_ns >= 500_000
),
quick AS (
    SELECT count(*) FILTER (latency_ns <= least_latency_ns + 200_000) * 10 >= count(*) AS is_usual
    FROM delayed
),
-- When all that was launched up to a moment had ended.
launched AS (
    SELECT launched_ns, max(max(end_ns)) OVER (ORDER BY launched_ns ROWS UNBOUNDED PRECEDING) AS reached_ns
    FROM delayed
    GROUP BY launched_ns
),
waited AS (
    SELECT count(*) AS waited_count, count(*) FILTER (launched.reached_ns - call.end_ns >= 500_000) AS late_count
    FROM trace.host_api AS call
    ASOF JOIN launched ON launched.launched_ns < call.start_ns
    WHERE call.role = 'synchronise'
)
SELECT
    CASE
        WHEN early.early_ns IS NOT NULL THEN -early.early_ns
        WHEN quick.is_usual AND waited.late_count > 0 AND waited.late_count * 2 >= waited.waited_count
            THEN counted.least_latency_ns
        ELSE 0
    END AS offset_ns,
    counted.linked_count,
    counted.early_count,
    waited.waited_count,
    waited.late_count
FROM counted
CROSS JOIN early
CROSS JOIN quick
CROSS JOIN waited
