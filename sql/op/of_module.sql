-- One row is a name of ops, or of ranges that load data, in a module, and their time on the host in all steps. Records of a
-- launch count as a part of the op around them. With a step chosen, only calls that started in that step.
--
-- name_id     TEXT_ID  name; NULL when the profile lost its text
-- is_loading  BOOLEAN  whether it loads data
-- module      VARCHAR  path of the innermost module around them, names joined by '/'; NULL outside modules
-- call_count  BIGINT   calls
-- host_ns     BIGINT   their time on the host, ns; without that of the ops directly inside them, except for what loads data
WITH call AS (
    SELECT op.op_id, op.name_id, op.tid, op.start_ns, op.end_ns, op.duration_ns
    FROM trace.op
    ANTI JOIN op.launch USING (op_id)
    -- All pairs: periods of the chosen step are few.
    LEFT JOIN step.selected ON op.start_ns >= selected.start_ns AND op.start_ns < selected.end_ns
    WHERE NOT op.is_step AND (getvariable('step_id') IS NULL OR selected.start_ns IS NOT NULL)
),
inside_part AS (
    SELECT parent_id AS op_id, inside_ns AS duration_ns
    FROM op.parent
    ANTI JOIN op.launch USING (op_id)
    WHERE parent_id IS NOT NULL
    UNION ALL
    SELECT parent_id, -beside_ns
    FROM op.beside
),
inside AS (
    SELECT op_id, sum(duration_ns) AS duration_ns
    FROM inside_part
    GROUP BY op_id
),
item AS (
    SELECT op_id AS item_id, tid, start_ns, end_ns
    FROM call
),
interval AS (
    SELECT interval_id AS span_id, interval_parent.parent_id, tid, start_ns, end_ns, is_last_started
    FROM module.interval
    JOIN module.interval_parent USING (interval_id)
),
placed AS (
    SELECT found.item_id AS op_id, path.module_path
    FROM innermost(item, interval) AS found
    JOIN module.call ON call.interval_id = found.span_id
    JOIN module.path ON path.path_key = call.path_key AND path.is_backward = call.is_backward
),
part AS (
    SELECT
        call.name_id,
        coalesce(loads_data(name.text), false) AS is_loading,
        placed.module_path AS module,
        call.duration_ns - if(is_loading, 0, coalesce(inside.duration_ns, 0)) AS host_ns
    FROM call
    LEFT JOIN inside USING (op_id)
    LEFT JOIN placed USING (op_id)
    LEFT JOIN trace.string AS name ON name.text_id = call.name_id
    UNION ALL
    SELECT name_id, true, NULL, duration_ns
    FROM trace.range
    WHERE role = 'data loading'
)
SELECT name_id, is_loading, module, count(*) AS call_count, sum(host_ns)::BIGINT AS host_ns
FROM part
GROUP BY name_id, is_loading, module
ORDER BY host_ns DESC, name_id, is_loading, module
