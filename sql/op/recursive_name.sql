-- One row is a name of ops that lie in ops of the same name, directly or through others, and are no records of a launch.
--
-- name_id  TEXT_ID  the name
--
-- Most profiles have few such names or none, and only their ops are compared with each other.
WITH RECURSIVE directly AS (
    SELECT DISTINCT op.name_id, around.name_id AS around_name_id
    FROM op.parent
    ANTI JOIN op.launch USING (op_id)
    JOIN trace.op USING (op_id)
    JOIN trace.op AS around ON around.op_id = parent.parent_id
    WHERE NOT around.is_step
),
through_others AS (
    FROM directly
    UNION
    SELECT through_others.name_id, directly.around_name_id
    FROM through_others
    JOIN directly ON directly.name_id = through_others.around_name_id
)
SELECT DISTINCT name_id
FROM through_others
WHERE name_id = around_name_id
