-- Ranges of record_function have the part of mstx ranges; their domain is a part of their names, except for those that PyTorch
-- makes for steps and data loading.
WITH name_of_range AS (
    SELECT
        text_id AS name,
        role_of_annotation(text) AS role,
        text_id(if(role IN ('step', 'data loading'), 'default', domain_of_annotation(text))) AS domain_id,
        text_id(name_in_domain(text)) AS name_id
    FROM trace.string
    WHERE text_id IN (SELECT name FROM raw.annotation)
)
SELECT
    event_id AS range_id,
    'record_function' AS origin,
    name_of_range.role::ENUM('module', 'step', 'data loading', 'checkpoint', 'communication', 'flops', 'attention') AS role,
    name_of_range.role IS NULL AS is_module_candidate,
    name_of_range.domain_id,
    thread_id(pid, tid) AS tid,
    name_of_range.name_id,
    name AS recorded_name_id,
    start_ns,
    end_ns,
    end_ns - start_ns AS duration_ns
FROM raw.annotation
LEFT JOIN name_of_range USING (name)
WHERE is_host_time(start_ns, end_ns)
UNION ALL
SELECT
    event_id,
    'nn.Module',
    'module'::ENUM('module', 'step', 'data loading', 'checkpoint', 'communication', 'flops', 'attention'),
    false,
    NULL,
    thread_id(pid, tid),
    class,
    name,
    start_ns,
    end_ns,
    end_ns - start_ns
FROM raw.module_call
WHERE is_host_time(start_ns, end_ns)
