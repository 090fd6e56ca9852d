-- One row is a name of ops, or of ranges that load data, and their time on the host in all steps.
--
-- name_id     TEXT_ID  name; NULL when the profile lost its text
-- is_loading  BOOLEAN  whether it loads data
-- call_count  BIGINT   calls
-- host_ns     BIGINT   their time on the host, ns; without that of the ops directly inside them, except for what loads data
WITH part AS (
    SELECT
        by_shape.name_id,
        coalesce(loads_data(name.text), false) AS is_loading,
        by_shape.calls AS call_count,
        if(is_loading, by_shape.host_total_ns, by_shape.host_self_ns) AS host_ns
    FROM op.by_shape
    LEFT JOIN trace.string AS name ON name.text_id = by_shape.name_id
    UNION ALL
    SELECT name_id, true, 1, duration_ns
    FROM trace.range
    WHERE role = 'data loading'
)
SELECT name_id, is_loading, sum(call_count)::BIGINT AS call_count, sum(host_ns)::BIGINT AS host_ns
FROM part
GROUP BY name_id, is_loading
ORDER BY host_ns DESC, name_id, is_loading
