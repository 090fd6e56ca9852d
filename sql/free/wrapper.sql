-- One row is an op that leaves its work to others: ops inside it, or replayed graphs, launch more than it launches itself. Such
-- a wrapper holds a forward, an optimizer or a user's own code; where nothing inside it runs, Python runs between ops. An op
-- around ops of its own namespace alone, such as aten::linear around aten::addmm, is no wrapper: its library calls those.
--
-- op_id  BIGINT  an op of trace.op, on a thread that requests kernels
WITH requesting_thread AS (
    SELECT DISTINCT tid
    FROM free.request
    WHERE tid IS NOT NULL
),
replay AS (
    SELECT DISTINCT launch_id
    FROM trace.launch
    WHERE is_replay
),
-- The records of launches inside an op, such as aclnnMm, are its own. Python replays graphs, and no op does.
launch AS (
    SELECT DISTINCT
        coalesce(record.call_id, kernel_op.op_id) AS op_id,
        coalesce(kernel.launch_id, -kernel.kernel_id) AS launch_id
    FROM module.kernel_op
    JOIN trace.kernel USING (kernel_id)
    LEFT JOIN op.launch AS record USING (op_id)
),
launching_op AS (
    SELECT
        launch.op_id,
        count(*) FILTER (replay.launch_id IS NULL) AS own_count,
        count(replay.launch_id) AS replay_count
    FROM launch
    LEFT JOIN replay USING (launch_id)
    GROUP BY launch.op_id
),
namespace AS (
    SELECT text_id AS name_id, dense_rank() OVER (ORDER BY split_part(text, '::', 1)) AS namespace
    FROM trace.string
    WHERE contains(text, '::') AND text_id IN (SELECT name_id FROM trace.op)
),
around AS (
    SELECT parent.parent_id AS op_id, min(namespace.namespace) AS first_namespace, max(namespace.namespace) AS last_namespace
    FROM op.parent
    ANTI JOIN op.launch USING (op_id)
    JOIN trace.op USING (op_id)
    LEFT JOIN namespace USING (name_id)
    WHERE parent.parent_id IS NOT NULL
    GROUP BY parent.parent_id
),
counted_op AS (
    SELECT
        op.op_id,
        op.tid,
        op.start_ns,
        op.end_ns,
        around.op_id IS NOT NULL
            AND NOT op.is_step
            AND coalesce(namespace.namespace <> around.first_namespace OR namespace.namespace <> around.last_namespace, true)
            AS is_outer,
        launching_op.op_id IS NOT NULL AS launches,
        coalesce(launching_op.own_count, 0) AS own_count,
        coalesce(launching_op.replay_count, 0) AS replay_count
    FROM trace.op
    SEMI JOIN requesting_thread USING (tid)
    LEFT JOIN launching_op USING (op_id)
    LEFT JOIN around USING (op_id)
    LEFT JOIN namespace USING (name_id)
),
-- What neither launches nor can be a wrapper is left out before it is ordered: at 100,000 kernels 0.21 s in place of 0.29.
summed_op AS (
    SELECT
        *,
        sum(own_count + replay_count) OVER (
            PARTITION BY tid ORDER BY start_ns, end_ns DESC, op_id ROWS UNBOUNDED PRECEDING
        ) AS up_to_count
    FROM counted_op
    WHERE is_outer OR launches
),
-- Of ops that start at the same time the last one knows what all of them launched.
begun_count AS (
    SELECT tid, start_ns, max(up_to_count) AS up_to_count
    FROM summed_op
    GROUP BY tid, start_ns
)
SELECT summed_op.op_id
FROM summed_op
ASOF JOIN begun_count ON begun_count.tid = summed_op.tid AND begun_count.start_ns < summed_op.end_ns
WHERE summed_op.is_outer
    AND begun_count.up_to_count - summed_op.up_to_count + summed_op.replay_count > summed_op.own_count
