-- One row is an op of a compiled graph with the memory that was planned for it, the most at the peak of the graph first.
--
-- @guard trace.static_memory
-- @sum block_count, allocated_bytes, live_bytes
--
-- @columns device_id to model as in allocation.static_graph
-- op               VARCHAR  name of the op; NULL when not recorded
-- block_count      BIGINT   its blocks
-- allocated_bytes  BIGINT   their sum
-- live_bytes       BIGINT   what of them is held at the peak of the graph
-- share            DOUBLE   live_bytes / peak_bytes of the graph; NULL when that is 0 or not known
-- first_node       BIGINT   first node at which it holds a block; NULL when not recorded
-- last_node        BIGINT   last node at which it holds one; NULL when the graph keeps a block until its end
SELECT
    block.device_id,
    block.graph_id,
    block.model,
    block.op,
    count(*) AS block_count,
    sum(block.size_bytes)::BIGINT AS allocated_bytes,
    coalesce(
        sum(block.size_bytes)
            FILTER (
                block.first_node <= graph.peak_node
                AND (block.last_node IS NULL OR greatest(block.last_node, block.first_node) >= graph.peak_node)
            ),
        0
    )::BIGINT AS live_bytes,
    live_bytes / nullif(max(graph.peak_bytes), 0) AS share,
    min(block.first_node) AS first_node,
    if(count(*) = count(block.last_node), max(greatest(block.last_node, block.first_node)), NULL) AS last_node
FROM trace.static_memory AS block
JOIN allocation.static_graph AS graph
    ON graph.device_id IS NOT DISTINCT FROM block.device_id
    AND graph.graph_id IS NOT DISTINCT FROM block.graph_id
    AND graph.model IS NOT DISTINCT FROM block.model
WHERE NOT block.is_total
GROUP BY block.device_id, block.graph_id, block.model, block.op
ORDER BY live_bytes DESC, allocated_bytes DESC, block.device_id, block.graph_id, block.model, block.op
