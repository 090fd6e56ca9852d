-- As in range.sql: ranges of record_function have their domains in their names.
WITH name_of_range AS (
    SELECT
        text_id AS name,
        text_id(domain_of_annotation(text)) AS domain_id,
        text_id(name_in_domain(text)) AS name_id
    FROM trace.string
    WHERE text_id IN (SELECT name FROM raw.replayed_range WHERE NOT is_module)
)
SELECT
    range_id,
    launch_id,
    tid,
    if(is_module, 'module', NULL) AS role,
    NOT is_module AS is_module_candidate,
    name_of_range.domain_id,
    coalesce(name_of_range.name_id, replayed_range.name) AS name_id,
    is_backward,
    start_ns,
    end_ns
FROM raw.replayed_range
LEFT JOIN name_of_range ON name_of_range.name = replayed_range.name AND NOT replayed_range.is_module
