-- One row is a compiled graph, or a subgraph of it, with the memory that was planned for its ops, the most at its peak first.
--
-- @guard trace.static_memory
--
-- device_id        BIGINT   device; NULL when not recorded
-- graph_id         BIGINT   graph; NULL when not recorded
-- model            VARCHAR  root node of the subgraph; NULL for a graph without subgraphs
-- op_count         BIGINT   ops that have blocks
-- block_count      BIGINT   blocks
-- allocated_bytes  BIGINT   the sum of all blocks; more than the graph needs, since blocks follow each other in the same place
-- peak_bytes       BIGINT   most that blocks hold at one node, each from its first to its last node; NULL without known nodes
-- peak_node        BIGINT   the first node at which they hold that; NULL as peak_bytes
-- kept_bytes       BIGINT   blocks that the graph keeps until its end
-- reported_bytes   BIGINT   total that the profiler reported; NULL without it
WITH block AS (
    FROM trace.static_memory
    WHERE NOT is_total
),
change AS (
    SELECT device_id, graph_id, model, first_node AS node, size_bytes
    FROM block
    WHERE first_node IS NOT NULL
    UNION ALL
    SELECT device_id, graph_id, model, greatest(last_node, first_node) + 1, -size_bytes
    FROM block
    WHERE first_node IS NOT NULL AND last_node IS NOT NULL
),
held AS (
    SELECT
        device_id,
        graph_id,
        model,
        node,
        sum(sum(size_bytes)) OVER (PARTITION BY device_id, graph_id, model ORDER BY node) AS held_bytes
    FROM change
    GROUP BY device_id, graph_id, model, node
),
peak AS (
    SELECT device_id, graph_id, model, max(held_bytes)::BIGINT AS peak_bytes, arg_max(node, (held_bytes, -node)) AS peak_node
    FROM held
    GROUP BY device_id, graph_id, model
),
total AS (
    SELECT device_id, graph_id, model, max(size_bytes) AS reported_bytes
    FROM trace.static_memory
    WHERE is_total
    GROUP BY device_id, graph_id, model
),
graph AS (
    SELECT
        device_id,
        graph_id,
        model,
        count(DISTINCT op) AS op_count,
        count(*) AS block_count,
        sum(size_bytes)::BIGINT AS allocated_bytes,
        coalesce(sum(size_bytes) FILTER (last_node IS NULL), 0)::BIGINT AS kept_bytes
    FROM block
    GROUP BY device_id, graph_id, model
)
SELECT
    graph.device_id,
    graph.graph_id,
    graph.model,
    graph.op_count,
    graph.block_count,
    graph.allocated_bytes,
    peak.peak_bytes,
    peak.peak_node,
    graph.kept_bytes,
    total.reported_bytes
FROM graph
LEFT JOIN peak
    ON peak.device_id IS NOT DISTINCT FROM graph.device_id
    AND peak.graph_id IS NOT DISTINCT FROM graph.graph_id
    AND peak.model IS NOT DISTINCT FROM graph.model
LEFT JOIN total
    ON total.device_id IS NOT DISTINCT FROM graph.device_id
    AND total.graph_id IS NOT DISTINCT FROM graph.graph_id
    AND total.model IS NOT DISTINCT FROM graph.model
ORDER BY peak.peak_bytes DESC, graph.device_id, graph.graph_id, graph.model
