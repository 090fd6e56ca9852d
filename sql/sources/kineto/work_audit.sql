-- A kernel without a name, or with one that says nothing, counts as computing, unless its collective is recorded or the host
-- launched it in the range of one.
WITH work AS (
    SELECT
        if(is_kernel, 'kernel', 'copy') AS sort,
        if(
            kernel.kind = 'compute' AND family.name_id IS NOT NULL AND family.kind IS NULL, kernel.type_id, NULL
        ) AS unknown_type_id,
        CASE
            WHEN is_kernel AND family.kind = 'wait' THEN 'no work'
            WHEN kernel.kernel_id IS NULL THEN 'set aside'
            WHEN NOT is_kernel THEN 'copy'
            WHEN device_work.name IS NULL AND kernel.kind = 'compute' THEN 'undescribed'
            ELSE 'kernel'
        END AS place,
        CASE
            WHEN place = 'undescribed' THEN 'their events have no name, so what communicates among them counts as computing'
            WHEN unknown_type_id IS NOT NULL THEN 'no rule knows this name, so it counts as computing'
        END AS reason,
        TRY(device_work.end_ns - device_work.start_ns) AS duration_ns
    FROM raw.device_work
    LEFT JOIN trace.kernel ON kernel.kernel_id = device_work.event_id
    LEFT JOIN trace.kernel_family AS family ON family.name_id = device_work.name
),
-- The ends less the begins of all are the time of all.
other AS (
    SELECT
        coalesce(category, 'event without a category') AS what,
        if(phase IN ('B', 'E'), 'two events (ph B and E) begin and end them', 'events like these are not known') AS reason,
        count(*) FILTER (phase <> 'E') AS row_count,
        CASE
            WHEN count(*) = count(*) FILTER (phase = 'X') THEN sum(TRY(end_ns - start_ns))
            WHEN count(start_ns) FILTER (phase = 'B') = count(start_ns) FILTER (phase = 'E')
                THEN sum(start_ns) FILTER (phase = 'E') - sum(start_ns) FILTER (phase = 'B')
        END AS duration_ns
    FROM raw.other_work
    GROUP BY what, reason
),
counted_place AS (
    SELECT coalesce(string.text, sort) AS what, place, reason, count(*) AS row_count, sum(duration_ns) AS duration_ns
    FROM work
    LEFT JOIN trace.string ON string.text_id = work.unknown_type_id
    GROUP BY what, place, reason
    UNION ALL
    SELECT what, 'missing', reason, row_count, duration_ns
    FROM other
)
SELECT
    what,
    place::ENUM('kernel', 'undescribed', 'copy', 'communication', 'around', 'no work', 'set aside', 'missing') AS place,
    if(place = 'set aside', 'their rows cannot be right', reason) AS reason,
    row_count,
    TRY_CAST(duration_ns AS BIGINT) AS duration_ns
FROM counted_place
ORDER BY place, what, reason
