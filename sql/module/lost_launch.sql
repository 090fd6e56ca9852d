-- One row is the kernels that link to no op because the profile lost the link: it has ops, but names none for any launch; or it
-- has the launch on a queue thread, but not the task that the thread ran; or it names no launch, or one that it does not have,
-- for more than 10 kernels, or 3 of a tenth of the kernel time, that ran after one of the recording on their stream, so that it
-- launched them. Without such kernels, there is no row.
--
-- kernel_count           BIGINT  number of these kernels, without those of a replayed graph
-- kernel_duration_ns     BIGINT  their time, ns
-- kernel_duration_share  DOUBLE  share of all kernel time; NULL when that is 0
-- what_to_do             VARCHAR the end of a sentence: where the links are missing, and how to get them; NULL when not known
--
-- @guard module.unlinked_kernel
WITH unlinked AS (
    SELECT kernel_id, launch_id, device_id, stream_id, start_ns, duration_ns
    FROM trace.kernel
    ANTI JOIN module.kernel_op USING (kernel_id)
    WHERE model_id IS NULL AND EXISTS (FROM trace.op)
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
-- A launch from before the recording is not in it. A stream runs its kernels in the order of their launches. The profiler finds
-- no launch for a few kernels: only more than 10, or 3 of a tenth of the time, are a loss.
unseen AS (
    FROM unlinked
    ANTI JOIN trace.launch USING (launch_id)
),
first_seen AS (
    SELECT kernel.device_id, kernel.stream_id, min(kernel.start_ns) AS start_ns
    FROM trace.kernel
    ANTI JOIN unseen USING (kernel_id)
    WHERE kernel.model_id IS NULL AND EXISTS (FROM unseen)
    GROUP BY kernel.device_id, kernel.stream_id
),
many_unseen AS (
    SELECT count(*) AS kernel_count
    FROM unseen
    HAVING count(*) > 10 OR count(*) > 2 AND 10 * sum(duration_ns) > (SELECT sum(duration_ns) FROM trace.kernel)
),
-- Kernels that name no launch, and those that nearly all name the same one, are lost behind a kernel of any stream.
without_launch AS (
    SELECT kernel_id, duration_ns, start_ns
    FROM unseen
    WHERE launch_id IS NULL
    UNION ALL
    SELECT kernel_id, duration_ns, start_ns
    FROM unseen
    WHERE launch_id IN (
        SELECT launch_id
        FROM unseen
        GROUP BY launch_id
        HAVING count(*) > 10 AND 2 * count(*) > (SELECT count(*) FROM unseen)
    )
),
lost AS (
    SELECT kernel_id, duration_ns
    FROM unlinked
    SEMI JOIN launch_of_queue USING (launch_id)
    UNION
    SELECT kernel_id, duration_ns
    FROM unlinked
    ANTI JOIN beside_ops USING (launch_id)
    WHERE launch_id IS NOT NULL
      AND NOT EXISTS (FROM module.recorded_link)
      -- Else those that the recording does not have are of before.
      AND (
          kernel_id NOT IN (SELECT kernel_id FROM unseen)
          OR 2 * (SELECT count(*) FROM unseen) > (SELECT count(*) FROM trace.kernel)
      )
    UNION
    SELECT unseen.kernel_id, unseen.duration_ns
    FROM unseen
    JOIN first_seen
        ON first_seen.device_id IS NOT DISTINCT FROM unseen.device_id
        AND first_seen.stream_id IS NOT DISTINCT FROM unseen.stream_id
    WHERE unseen.start_ns > first_seen.start_ns AND EXISTS (FROM many_unseen)
    UNION
    SELECT kernel_id, duration_ns
    FROM without_launch
    WHERE EXISTS (FROM many_unseen)
      AND (
          start_ns > (SELECT min(start_ns) FROM first_seen)
          OR (NOT EXISTS (FROM first_seen) AND EXISTS (FROM trace.launch))
      )
)
SELECT
    count(*) AS kernel_count,
    sum(duration_ns)::BIGINT AS kernel_duration_ns,
    sum(duration_ns) / nullif((SELECT sum(duration_ns) FROM trace.kernel), 0) AS kernel_duration_share,
    (SELECT reason FROM trace.unrecorded WHERE what = 'links') AS what_to_do
FROM lost
HAVING count(*) > 0
