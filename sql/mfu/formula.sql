-- One row is an operator type, or a name of ops, of the rank for whose FLOPs there is a formula.
--
-- text_id  BIGINT  the type or the name, a text of trace.string
SELECT type_id AS text_id
FROM mfu.family
UNION ALL
SELECT name_id
FROM mfu.op_form
