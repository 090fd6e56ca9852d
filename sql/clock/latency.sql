-- One row is the rank: how long after their launch its kernels begin, by the recorded times of host and device.
--
-- linked_count      BIGINT   kernels whose launch is known, or else the op that launched them
-- early_count       BIGINT   of these, kernels that begin 0.1 ms or more before it by the recorded times
-- early_ns          BIGINT   how far kernels begin before their launch, ns: the largest usual value among those that do; NULL
--                            where they are too few to be more than damaged links
-- least_latency_ns  BIGINT   time from its launch to the begin of a kernel, ns: one in a hundred is as quick; NULL where no
--                            kernel is linked
-- is_usual          BOOLEAN  whether one kernel in ten needs no more than 0.2 ms longer than that
--
-- Early kernels are more than damaged links if there are ten and one in a thousand, or three and one in five in a small
-- profile.
WITH launch AS (
    SELECT launch_id, min(start_ns) AS start_ns
    FROM trace.launch
    GROUP BY launch_id
),
launched_kernel AS (
    SELECT kernel.kernel_id, kernel.start_ns, launch.start_ns AS launch_ns
    FROM trace.kernel
    LEFT JOIN launch USING (launch_id)
    WHERE kernel.kind <> 'schedule'
),
-- Ops of kernels without a launch only: those of all kernels take 0.5 s of CPU more for a million.
linked_kernel AS (
    SELECT start_ns - launch_ns AS latency_ns
    FROM launched_kernel
    WHERE launch_ns IS NOT NULL
    UNION ALL
    SELECT launched_kernel.start_ns - op.start_ns
    FROM launched_kernel
    JOIN module.kernel_op USING (kernel_id)
    JOIN trace.op USING (op_id)
    WHERE launched_kernel.launch_ns IS NULL
),
link_count AS (
    SELECT
        count(*) AS linked_count,
        count(*) FILTER (latency_ns <= -100_000) AS early_count,
        quantile_disc(latency_ns, 0.01) AS least_latency_ns,
        -- Without damaged links, which may lie anywhere.
        quantile_disc(-latency_ns, 0.95) FILTER (latency_ns <= -100_000) AS usual_early_ns
    FROM linked_kernel
),
early AS (
    SELECT max(-linked_kernel.latency_ns) AS early_ns
    FROM linked_kernel
    CROSS JOIN link_count
    WHERE -linked_kernel.latency_ns * 4 <= link_count.usual_early_ns * 5
        AND link_count.early_count >= if(link_count.early_count * 5 >= link_count.linked_count, 3, 10)
        AND link_count.early_count * 1000 >= link_count.linked_count
),
quick AS (
    SELECT count(*) FILTER (linked_kernel.latency_ns <= link_count.least_latency_ns + 200_000) * 10 >= count(*) AS is_usual
    FROM linked_kernel
    CROSS JOIN link_count
)
SELECT link_count.linked_count, link_count.early_count, early.early_ns, link_count.least_latency_ns, quick.is_usual
FROM link_count
CROSS JOIN early
CROSS JOIN quick
