-- One row is a kernel of critical.beside, and the time for which it alone keeps the device busy: no compute kernel of another
-- type runs then, and where it is a copy, no compute kernel at all. A kernel that another one stretches covers it only for as
-- long as it usually takes: it would take no longer without that other one.
--
-- @guard critical.beside
--
-- kernel_id  BIGINT  a kernel of critical.beside
-- alone_ns   BIGINT  that time, ns; a moment in which several kernels of one type run counts for the first of them
WITH kernel AS (
    SELECT
        beside.kernel_id,
        beside.is_copy,
        if(beside.is_copy, NULL, coalesce(device.type_id, device.name_id)) AS type_id,
        beside.start_ns,
        beside.end_ns,
        stretched.usual_ns
    FROM critical.beside
    JOIN trace.kernel AS device USING (kernel_id)
    LEFT JOIN critical.stretched ON stretched.kernel_id = beside.kernel_id
),
-- As they ran, and without what stretches some of them.
run AS (
    SELECT false AS is_changed, kernel_id, is_copy, type_id, start_ns, end_ns, usual_ns IS NOT NULL AS is_asked
    FROM kernel
    UNION ALL
    SELECT true, kernel_id, is_copy, type_id, start_ns, coalesce(start_ns + usual_ns, end_ns), usual_ns IS NULL
    FROM kernel
),
-- What kernels of one type run at the same time counts for the first of them.
own_run AS (
    SELECT is_changed, kernel_id, is_copy, is_asked, from_ns, from_ns + added_ns AS to_ns
    FROM added(run, (is_changed, is_copy, type_id), kernel_id)
),
event AS (
    SELECT is_changed, from_ns AS time_ns, if(is_copy, 0, 1) AS change, kernel_id, is_copy, is_asked, false AS is_end
    FROM own_run
    UNION ALL
    SELECT is_changed, to_ns, if(is_copy, 0, -1), kernel_id, is_copy, is_asked, true
    FROM own_run
),
busy AS (
    SELECT
        *,
        sum(change) OVER in_time AS type_count,
        lead(time_ns) OVER in_time - time_ns AS next_ns
    FROM event
    WINDOW in_time AS (PARTITION BY is_changed ORDER BY time_ns, kernel_id, is_end ROWS UNBOUNDED PRECEDING)
),
passed AS (
    SELECT
        kernel_id,
        is_copy,
        is_asked,
        coalesce(sum(if(type_count = 1, next_ns, 0)) OVER in_time, 0) AS one_type_ns,
        coalesce(sum(if(type_count = 0, next_ns, 0)) OVER in_time, 0) AS no_type_ns
    FROM busy
    WINDOW in_time AS (
        PARTITION BY is_changed ORDER BY time_ns, kernel_id, is_end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)
SELECT
    kernel_id,
    (
        max(if(is_copy, no_type_ns, one_type_ns)) - min(if(is_copy, no_type_ns, one_type_ns))
    )::BIGINT AS alone_ns
FROM passed
WHERE is_asked
GROUP BY kernel_id
