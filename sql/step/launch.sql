-- One row is a step with the launches of its kernels, and the part of the kernels that replayed graphs ran.
--
-- step_id         BIGINT   step, as in kernels.step; NULL for kernels of no step, and without steps
-- kernel_count    BIGINT   kernels and copies
-- launch_count    BIGINT   launches of the host that put them on the device; the replay of a graph is one
-- unlinked_count  BIGINT   kernels whose launch is not recorded
-- graph_count     BIGINT   kernels that ran as parts of replayed graphs
-- graph_share     DOUBLE   part of the kernels
-- graph_ns        BIGINT   their time, ns
-- kernel_ns       BIGINT   time of all kernels, ns; overlapping ones count fully
SELECT
    kernel_step.step_id,
    count(*) AS kernel_count,
    count(DISTINCT kernel.launch_id) AS launch_count,
    count(*) FILTER (kernel.launch_id IS NULL) AS unlinked_count,
    count(replayed.kernel_id) AS graph_count,
    count(replayed.kernel_id) / count(*) AS graph_share,
    coalesce(sum(kernel.duration_ns) FILTER (replayed.kernel_id IS NOT NULL), 0)::BIGINT AS graph_ns,
    sum(kernel.duration_ns)::BIGINT AS kernel_ns
FROM trace.kernel
LEFT JOIN kernels.step AS kernel_step USING (kernel_id)
LEFT JOIN graph.replayed_kernel AS replayed USING (kernel_id)
GROUP BY kernel_step.step_id
ORDER BY kernel_step.step_id NULLS LAST
