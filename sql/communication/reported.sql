-- One row is a communication operator as the profiler itself worked it out, with the kernel that it matches. A kernel is found
-- by its name, or by its start where names repeat or are lost; in the profiler's files starts are rounded to 250 ns, and beside
-- a database all of them are off by some us. An operator that is no kernel of the rank has a row too, without a kernel; with a
-- step chosen, only if it is of that step.
--
-- @guard trace.reported_communication
--
-- kernel_id           BIGINT   a communication kernel of trace.kernel; NULL when the operator matches none
-- name                VARCHAR  name of the operator
-- @columns type to kind as in trace.reported_communication
-- elapse_ns           BIGINT   its time, ns
-- transit_ns          BIGINT   transfers over a link, ns; NULL when not reported, or when the plane that the times are of moved
--                              nothing and others did: see reason
-- wait_ns             BIGINT   waits for other ranks, ns; NULL as transit_ns
-- synchronization_ns  BIGINT   the part of wait_ns before the first transfer, ns; NULL as transit_ns
-- idle_ns             BIGINT   the rest of its time, ns; NULL as transit_ns
-- size_bytes          BIGINT   bytes that it moved over links; NULL when it moved nothing
-- transfer_ns         BIGINT   time of these transfers on all planes, ns; NULL without any
-- is_of_idle_plane    BOOLEAN  whether its times were reported for a plane that moved nothing while others moved data
-- reason              VARCHAR  why times that were reported are NULL; NULL when none are
--
-- The times are those of one plane, the transfers those of all. Where that plane moved nothing and others did, its transit of 0
-- is not that of the operator. Between two ranks transfers follow each other, so their sum is.
WITH operator AS (
    SELECT
        *,
        row_number() OVER (ORDER BY name, group_name, step_id, start_ns, elapse_ns, transit_ns, wait_ns) AS number
    FROM trace.reported_communication
    WHERE elapse_ns IS NOT NULL
),
kernel AS (
    SELECT kernel.kernel_id, kernel.start_ns, communication.short_name
    FROM trace.kernel
    LEFT JOIN trace.communication USING (kernel_id)
    WHERE kernel.kind = 'communication'
),
operator_of_name AS (
    SELECT short_name, min(number) AS number
    FROM operator
    GROUP BY short_name
    HAVING count(*) = 1
),
kernel_of_name AS (
    SELECT short_name, min(kernel_id) AS kernel_id
    FROM kernel
    WHERE short_name IS NOT NULL
    GROUP BY short_name
    HAVING count(*) = 1
),
of_name AS (
    SELECT number, kernel_id
    FROM operator_of_name
    JOIN kernel_of_name USING (short_name)
),
clock AS (
    SELECT coalesce(quantile_disc(kernel.start_ns - operator.start_ns, 0.5), 0) AS offset_ns
    FROM of_name
    JOIN kernel USING (kernel_id)
    JOIN operator USING (number)
),
unfound AS (
    SELECT operator.number, operator.start_ns + clock.offset_ns AS start_ns
    FROM operator
    ANTI JOIN of_name USING (number)
    CROSS JOIN clock
),
kernel_of_start AS (
    SELECT start_ns, min(kernel_id) AS kernel_id
    FROM kernel
    ANTI JOIN of_name USING (kernel_id)
    GROUP BY start_ns
    HAVING count(*) = 1
),
of_start AS (
    SELECT unfound.number, kernel.kernel_id
    FROM unfound
    ASOF JOIN kernel_of_start AS kernel ON kernel.start_ns <= unfound.start_ns + 500
    WHERE kernel.start_ns >= unfound.start_ns - 500
    QUALIFY count(*) OVER (PARTITION BY kernel.kernel_id) = 1
),
found_operator AS (
    FROM of_name
    UNION ALL
    FROM of_start
),
-- A kernel that lost its name can be any of the operators that are left.
lost AS (
    SELECT count(*) AS lost_count
    FROM kernel
    ANTI JOIN found_operator USING (kernel_id)
    WHERE short_name IS NULL
),
moved_bytes AS (
    SELECT
        name,
        group_name,
        step_id,
        sum(size_bytes)::BIGINT AS size_bytes,
        sum(duration_ns)::BIGINT AS transfer_ns
    FROM trace.reported_transfer
    GROUP BY name, group_name, step_id
),
pair AS (
    SELECT group_name
    FROM communication.member
    GROUP BY group_name
    HAVING count(*) = 2
),
judged_operator AS (
    SELECT
        operator.*,
        moved_bytes.size_bytes,
        moved_bytes.transfer_ns,
        coalesce(operator.transit_ns = 0 AND moved_bytes.transfer_ns > 0, false) AS is_of_idle_plane,
        pair.group_name IS NOT NULL AND moved_bytes.transfer_ns <= operator.elapse_ns AS is_one_by_one,
        is_one_by_one AND operator.wait_ns > 0 AND operator.wait_ns + moved_bytes.transfer_ns <= operator.elapse_ns AS is_whole
    FROM operator
    LEFT JOIN moved_bytes
        ON moved_bytes.name = operator.name
        AND moved_bytes.group_name IS NOT DISTINCT FROM operator.group_name
        AND moved_bytes.step_id IS NOT DISTINCT FROM operator.step_id
    LEFT JOIN pair ON pair.group_name = operator.group_name
),
split AS (
    SELECT
        * REPLACE (
            CASE WHEN NOT is_of_idle_plane THEN transit_ns WHEN is_one_by_one THEN transfer_ns END AS transit_ns,
            if(is_of_idle_plane AND NOT is_whole, NULL, wait_ns) AS wait_ns,
            if(is_of_idle_plane AND NOT is_whole, NULL, synchronization_ns) AS synchronization_ns
        ),
        if(
            is_of_idle_plane AND NOT is_whole,
            'the profiler worked out the times of a plane that moved nothing, while other planes moved data',
            NULL
        ) AS reason
    FROM judged_operator
)
SELECT
    found_operator.kernel_id,
    operator.name,
    operator.type,
    operator.operation,
    operator.group_name,
    operator.step_id,
    operator.kind,
    operator.elapse_ns,
    operator.transit_ns,
    operator.wait_ns,
    operator.synchronization_ns,
    operator.elapse_ns - operator.transit_ns - operator.wait_ns AS idle_ns,
    operator.size_bytes,
    operator.transfer_ns,
    operator.is_of_idle_plane,
    operator.reason
FROM split AS operator
CROSS JOIN lost
LEFT JOIN found_operator USING (number)
WHERE found_operator.kernel_id IS NOT NULL
   OR (
       lost.lost_count = 0
       AND operator.short_name NOT IN (SELECT short_name FROM kernel WHERE short_name IS NOT NULL)
       AND (getvariable('step_id') IS NULL OR operator.step_id = getvariable('step_id'))
   )
