-- One row is the kernels that link to no op because the profile lost the link: it has ops, but names none for any launch; or it
-- has the launch on a queue thread, but not the task that the thread ran. Where there are none, there is no row.
--
-- kernel_count           BIGINT  number of these kernels, without those of a replayed graph and those without a launch
-- kernel_duration_ns     BIGINT  their time, ns
-- kernel_duration_share  DOUBLE  share of all kernel time; NULL when that is 0
-- what_to_do             VARCHAR the end of a sentence: where the links are missing, and how to get them; NULL when not known
--
-- Only when module.doubtful_launch has rows.
WITH unlinked AS (
    SELECT kernel_id, launch_id, duration_ns
    FROM trace.kernel
    ANTI JOIN module.kernel_op USING (kernel_id)
    WHERE launch_id IS NOT NULL AND model_id IS NULL
),
launch_of_queue AS (
    FROM trace.launch
    SEMI JOIN trace.queue_thread USING (tid)
),
-- On a thread that runs ops itself, a launch outside any op has lost nothing.
beside_ops AS (
    SELECT launch_id
    FROM module.bare_launch
    SEMI JOIN (SELECT DISTINCT tid FROM trace.op) AS thread USING (tid)
),
lost AS (
    FROM unlinked
    SEMI JOIN launch_of_queue USING (launch_id)
    UNION
    FROM unlinked
    ANTI JOIN beside_ops USING (launch_id)
    WHERE NOT EXISTS (FROM module.recorded_link) AND EXISTS (FROM trace.op)
)
SELECT
    count(*) AS kernel_count,
    sum(duration_ns)::BIGINT AS kernel_duration_ns,
    sum(duration_ns) / nullif((SELECT sum(duration_ns) FROM trace.kernel), 0) AS kernel_duration_share,
    (SELECT reason FROM trace.unrecorded WHERE what = 'links') AS what_to_do
FROM lost
HAVING count(*) > 0
