-- One row is a module path of the rank, forward or backward, as a node of the tree of modules.
--
-- path_id         BIGINT   a path of module.path; a node comes before those inside it, and siblings are in the order of their
--                          first calls
-- node_id         BIGINT   the same for forward and backward of a path: the smaller path_id of both
-- parent_node_id  BIGINT   the node around it; NULL for an outermost module
-- name_id         TEXT_ID  class name of the module; NULL when the profile lost its text
-- is_backward     BOOLEAN  true for the backward of the path
-- parent_module   VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module          VARCHAR  the last name; with [Backward] before it for the backward
-- module_path     VARCHAR  names from the outermost module to this one joined by '/', the same for forward and backward
-- op_key          UBIGINT  hash of the sequences of ops that its calls run and that launched kernels, one for each set of ops;
--                          NULL where they launched none
WITH op_name AS (
    SELECT text_id, hash(text) AS name_key
    FROM trace.string
    SEMI JOIN (SELECT DISTINCT op_name_id FROM module.kernel WHERE path_id IS NOT NULL) AS op ON op.op_name_id = string.text_id
),
launching_op AS (
    SELECT
        op_id,
        min(instance_id) AS instance_id,
        min(path_id) AS path_id,
        min(op_name_id) AS op_name_id,
        min(op_start_ns) AS start_ns,
        min(op_end_ns) AS end_ns
    FROM module.kernel
    WHERE path_id IS NOT NULL
    GROUP BY op_id
),
call AS (
    SELECT path_id, instance_id, (count(*), sum(name_key::HUGEINT)) AS ops
    FROM launching_op
    LEFT JOIN op_name ON op_name.text_id = op_name_id
    GROUP BY path_id, instance_id
),
-- Of calls with the same ops the first one stands for all: to order the ops of all calls takes three times as long.
first_call AS (
    SELECT path_id, min(instance_id) AS instance_id
    FROM call
    GROUP BY path_id, ops
),
sequence AS (
    SELECT path_id, instance_id, hash(list(name_key ORDER BY start_ns, end_ns DESC, op_id)) AS sequence_key
    FROM launching_op
    SEMI JOIN first_call USING (path_id, instance_id)
    LEFT JOIN op_name ON op_name.text_id = op_name_id
    GROUP BY path_id, instance_id
),
key_of_path AS (
    SELECT path_id, hash(list_sort(list(DISTINCT sequence_key))) AS op_key
    FROM sequence
    GROUP BY path_id
),
node AS (
    SELECT path, min(path_id) AS node_id
    FROM module.path
    GROUP BY path
)
SELECT
    path.path_id,
    node.node_id,
    around.node_id AS parent_node_id,
    path.path[-1].name_id AS name_id,
    path.is_backward,
    path.parent_module,
    path.module,
    path_of_module(path.parent_module, if(path.is_backward, substr(path.module, 11), path.module)) AS module_path,
    key_of_path.op_key
FROM module.path
JOIN node ON node.path = path.path
LEFT JOIN node AS around ON around.path = path.path[:-2]
LEFT JOIN key_of_path USING (path_id)
ORDER BY path.path_id
