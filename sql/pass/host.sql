-- One row is a pass on the host: as annotations mark it, else from the first request for one of its kernels to the last. Passes
-- for which neither is known have no row.
--
-- @guard pass.kernel
--
-- pass_id          BIGINT  a pass of pass.instance
-- host_start_ns    BIGINT  start on the host, Unix ns
-- host_end_ns      BIGINT  end on the host, Unix ns
-- host_before_ns   BIGINT  time on the host from the end of the passes before to its start, ns; 0 where these have not ended;
--                          NULL for the first pass
-- scheduling_ns    BIGINT  part of host_before_ns in which the next batch was chosen, ns; NULL where no mark tells
-- preparing_ns     BIGINT  part in which inputs were prepared, ns; NULL where no mark tells
-- sampling_ns      BIGINT  part in which tokens were chosen, ns; NULL where no mark tells
-- detokenising_ns  BIGINT  part in which tokens became texts, ns; NULL where no mark tells
WITH asked AS (
    SELECT pass_id, min(asked.asked_ns) AS start_ns, max(asked.asked_ns) AS end_ns
    FROM pass.kernel
    JOIN kernels.asked USING (kernel_id)
    GROUP BY pass_id
),
span AS (
    SELECT
        instance.pass_id,
        coalesce(marked.start_ns, asked.start_ns) AS start_ns,
        coalesce(marked.end_ns, asked.end_ns) AS end_ns
    FROM pass.instance
    LEFT JOIN pass.marked USING (marked_id)
    LEFT JOIN asked ON asked.pass_id = instance.pass_id
    WHERE coalesce(marked.start_ns, asked.start_ns) IS NOT NULL
),
before AS (
    SELECT
        *,
        max(end_ns) OVER (ORDER BY start_ns, end_ns DESC, pass_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
    FROM span
),
part AS (
    SELECT
        before.pass_id,
        mark.what,
        greatest(mark.start_ns, before.before_ns) AS start_ns,
        least(mark.end_ns, before.start_ns) AS end_ns
    FROM before
    JOIN pass.mark ON mark.start_ns < before.start_ns AND mark.end_ns > before.before_ns
    WHERE mark.what IN ('scheduling', 'preparing', 'sampling', 'detokenising')
),
part_time AS (
    SELECT pass_id, what, sum(added_ns)::BIGINT AS part_ns
    FROM added(part, (pass_id, what))
    GROUP BY pass_id, what
),
of_pass AS (
    SELECT
        pass_id,
        sum(part_ns) FILTER (what = 'scheduling')::BIGINT AS scheduling_ns,
        sum(part_ns) FILTER (what = 'preparing')::BIGINT AS preparing_ns,
        sum(part_ns) FILTER (what = 'sampling')::BIGINT AS sampling_ns,
        sum(part_ns) FILTER (what = 'detokenising')::BIGINT AS detokenising_ns
    FROM part_time
    GROUP BY pass_id
),
recorded AS (
    SELECT
        coalesce(bool_or(what = 'scheduling'), false) AS has_scheduling,
        coalesce(bool_or(what = 'preparing'), false) AS has_preparing,
        coalesce(bool_or(what = 'sampling'), false) AS has_sampling,
        coalesce(bool_or(what = 'detokenising'), false) AS has_detokenising
    FROM pass.mark
)
SELECT
    before.pass_id,
    before.start_ns AS host_start_ns,
    before.end_ns AS host_end_ns,
    if(before.before_ns IS NULL, NULL, greatest(0, before.start_ns - before.before_ns)) AS host_before_ns,
    if(has_scheduling AND host_before_ns IS NOT NULL, coalesce(scheduling_ns, 0), NULL) AS scheduling_ns,
    if(has_preparing AND host_before_ns IS NOT NULL, coalesce(preparing_ns, 0), NULL) AS preparing_ns,
    if(has_sampling AND host_before_ns IS NOT NULL, coalesce(sampling_ns, 0), NULL) AS sampling_ns,
    if(has_detokenising AND host_before_ns IS NOT NULL, coalesce(detokenising_ns, 0), NULL) AS detokenising_ns
FROM before
LEFT JOIN of_pass USING (pass_id)
-- All pairs: what is recorded is one row.
CROSS JOIN recorded
