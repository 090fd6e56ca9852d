-- The kernels of replayed graphs whose ops are known, with the launch of each. `replayed` and `kernels` are the names of CTEs
-- of raw.replayed_kernel and trace.kernel. Streams and tasks would tell kernels that run at the same time apart, but are
-- columns that hardly any other question reads.
CREATE MACRO IF NOT EXISTS kernels_of_replays(replayed, kernels) AS TABLE
    SELECT kernel.kernel_id, kernel.launch_id, replayed.op_id, replayed.tid, replayed.known_by, replayed.modules_by
    FROM query_table(replayed) AS replayed
    JOIN query_table(kernels) AS kernel
        ON kernel.start_ns = replayed.start_ns AND kernel.end_ns = replayed.end_ns
    WHERE kernel.kind = 'compute';

-- The launch of each replay, as all of its kernels name it: tid and launch_id. `kernels` is the name of a CTE of the rows
-- above.
CREATE MACRO IF NOT EXISTS launches_of_replays(kernels) AS TABLE
    SELECT tid, min(launch_id) AS launch_id
    FROM query_table(kernels)
    GROUP BY tid
    HAVING min(launch_id) = max(launch_id);
