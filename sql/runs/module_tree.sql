-- One row is a side of ranks that are compared with each other: the tree of the modules that any of them has, as lists with an
-- element for each module, in the order of first calls.
--
-- run      VARCHAR    the run that is compared with the base
-- side     VARCHAR    base or new
-- pair     VARCHAR    the ranks, as in runs.compared_rank
-- parents  INTEGER[]  place of the module around it in these lists, from 0; -1 for an outermost one
-- names    VARCHAR[]  class name; NULL when the profile lost its text
-- keys     UBIGINT[]  hash of the sequences of ops that its calls run, forward and backward; NULL where they launch no kernel
-- paths    VARCHAR[]  names from the outermost module to this one joined by '/', numbered among equal siblings
WITH node AS (
    SELECT
        rank.run,
        rank.side,
        rank.pair,
        node.module_path AS path,
        min(around.module_path) AS parent_path,
        min(node.name) AS name,
        min(node.node_id) AS first_id,
        -- NULL where no op of it launches a kernel.
        hash(nullif(list_sort(list(DISTINCT (node.is_backward, node.op_key)) FILTER (node.op_key IS NOT NULL)), [])) AS op_key,
        count(node.op_key) > 0 AS has_ops
    FROM runs.compared_rank AS rank
    JOIN compare.module_node AS node USING (profile)
    LEFT JOIN compare.module_node AS around ON around.profile = node.profile AND around.path_id = node.parent_node_id
    WHERE rank.pair IS NOT NULL
    GROUP BY rank.run, rank.side, rank.pair, node.module_path
),
placed_node AS (
    SELECT *, (row_number() OVER (PARTITION BY run, side, pair ORDER BY first_id, path) - 1)::INTEGER AS place
    FROM node
)
SELECT
    placed_node.run,
    placed_node.side,
    placed_node.pair,
    list(coalesce(around.place, -1) ORDER BY placed_node.place) AS parents,
    list(placed_node.name ORDER BY placed_node.place) AS names,
    list(CASE WHEN placed_node.has_ops THEN placed_node.op_key END ORDER BY placed_node.place) AS keys,
    list(placed_node.path ORDER BY placed_node.place) AS paths
FROM placed_node
LEFT JOIN placed_node AS around
    ON around.run = placed_node.run AND around.side = placed_node.side AND around.pair = placed_node.pair
        AND around.path = placed_node.parent_path
GROUP BY placed_node.run, placed_node.side, placed_node.pair
ORDER BY placed_node.run, placed_node.side, placed_node.pair
