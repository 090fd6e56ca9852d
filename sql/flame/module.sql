-- One row is the kernels of one name that ops of one name launched in a module, as a line of a flame graph; modules come in the
-- order of execution. The times of all rows add up to all kernel time of the rank, or of the chosen step.
--
-- frames        VARCHAR[]  names from the outermost on: the modules, the op, the kernel. Outside modules: 'outside modules' or
--                          'linked to no op', the reason as in module.kernel, the op if there is one, the kernel. Communication
--                          has its type in place of the name of the kernel
-- kernel_count  BIGINT     kernels
-- duration_ns   BIGINT     their time, ns; overlapping kernels count fully
WITH part AS (
    SELECT
        path_id,
        if(path_id IS NULL, location::VARCHAR, NULL) AS location,
        reason,
        location = 'linked to no op' AS has_no_op,
        op_name_id,
        if(kind = 'communication', coalesce(type_id, name_id), name_id) AS kernel_name_id,
        count(*) AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns
    FROM module.kernel
    GROUP BY ALL
),
path_name AS (
    SELECT
        path.path_id,
        list(
            if(path.is_backward, '[Backward]', '')
            || coalesce(string.text, '(name lost)')
            || coalesce('[' || segment.number || ']', '')
            ORDER BY place
        ) AS names
    FROM module.path
    CROSS JOIN unnest(path.path) WITH ORDINALITY AS part (segment, place)
    LEFT JOIN trace.string ON string.text_id = segment.name_id
    GROUP BY path.path_id
)
SELECT
    list_concat(
        coalesce(path_name.names, [part.location, part.reason]),
        if(part.has_no_op, [], [coalesce(op_name.text, '(name lost)')]),
        [coalesce(kernel_name.text, '(name lost)')]
    ) AS frames,
    sum(part.kernel_count)::BIGINT AS kernel_count,
    sum(part.duration_ns)::BIGINT AS duration_ns
FROM part
LEFT JOIN path_name USING (path_id)
LEFT JOIN trace.string AS op_name ON op_name.text_id = part.op_name_id
LEFT JOIN trace.string AS kernel_name ON kernel_name.text_id = part.kernel_name_id
GROUP BY part.path_id, frames
ORDER BY part.path_id NULLS LAST, frames
