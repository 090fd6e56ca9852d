-- A kernel without a name, or with one that says nothing, counts as computing, unless the host launched it in the range of a
-- collective. A replayed graph that was recorded as a whole has no kernels.
WITH work AS (
    SELECT
        CASE WHEN is_graph THEN 'CUDA graph' WHEN is_kernel THEN 'kernel' ELSE 'copy' END AS sort,
        if(
            kernel.kind = 'compute' AND family.name_id IS NOT NULL AND family.kind IS NULL AND is_graph IS NOT TRUE,
            kernel.type_id,
            NULL
        ) AS unknown_type_id,
        CASE
            WHEN is_kernel AND family.kind = 'wait' THEN 'no work'
            WHEN kernel.kernel_id IS NULL THEN 'set aside'
            WHEN NOT is_kernel THEN 'copy'
            WHEN is_graph OR (device_work.name IS NULL AND kernel.kind = 'compute') THEN 'undescribed'
            ELSE 'kernel'
        END AS place,
        CASE
            WHEN is_graph
                THEN 'their graphs were recorded as a whole; record their kernels with nsys profile --cuda-graph-trace=node'
            WHEN place = 'undescribed' THEN 'their rows have no name, so what communicates among them counts as computing'
            WHEN unknown_type_id IS NOT NULL THEN 'no rule knows this name, so it counts as computing'
        END AS reason,
        TRY(device_work.end_ns - device_work.start_ns) AS duration_ns
    FROM raw.device_work
    LEFT JOIN trace.kernel ON kernel.kernel_id = device_work.event_id
    LEFT JOIN trace.kernel_family AS family ON family.name_id = device_work.name
),
counted_place AS (
    SELECT coalesce(string.text, sort) AS what, place, reason, count(*) AS row_count, sum(duration_ns) AS duration_ns
    FROM work
    LEFT JOIN trace.string ON string.text_id = work.unknown_type_id
    GROUP BY what, place, reason
)
SELECT
    what,
    place::ENUM('kernel', 'undescribed', 'copy', 'communication', 'around', 'no work', 'set aside', 'missing') AS place,
    if(place = 'set aside', 'their rows cannot be right', reason) AS reason,
    row_count,
    TRY_CAST(duration_ns AS BIGINT) AS duration_ns
FROM counted_place
ORDER BY place, what, reason
