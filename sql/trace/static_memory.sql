-- One row is a block of memory of a device that was planned for an op when a graph was compiled (static_op_mem.csv), or the
-- total of a graph. Its life is counted in nodes of the graph, not in time.
--
-- device_id   BIGINT   device; NULL when not recorded
-- graph_id    BIGINT   graph; NULL when not recorded
-- model       VARCHAR  root node of the subgraph; NULL for a graph without subgraphs
-- op          VARCHAR  name of the op; NULL for the total, or when not recorded
-- is_total    BOOLEAN  whether it is the total that the profiler reported for the graph
-- first_node  BIGINT   the node before which the block is taken; NULL when not recorded
-- last_node   BIGINT   the node after which it is given back; NULL when the graph keeps it until its end
-- size_bytes  BIGINT   its size
SELECT
    device_id,
    graph_id,
    nullif(nullif(model, '0'), 'N/A') AS model,
    if(upper(op) = 'TOTAL', NULL, op) AS op,
    coalesce(upper(op) = 'TOTAL', false) AS is_total,
    first_node,
    nullif(last_node, 4294967295) AS last_node,
    size_bytes
FROM raw.recorded_static_memory
WHERE size_bytes >= 0
  AND (getvariable('device_id') IS NULL OR coalesce(device_id, getvariable('first_device_id')) = getvariable('device_id'))
