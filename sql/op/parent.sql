-- One row is an op and the op that encloses it on its thread.
--
-- op_id      BIGINT   an op of trace.op
-- parent_id  BIGINT   the innermost op around it; NULL for an outermost one
-- inside_ns  BIGINT   its time within that one, ns; NULL for an outermost one
-- is_beside  BOOLEAN  whether an op before it within the same one has not ended when it starts
-- tid        BIGINT   host thread
-- start_ns   BIGINT   start, Unix ns
-- end_ns     BIGINT   end, or that of the op around it, if that one ends before it, Unix ns
--
-- Among the candidates that the search of parents() leaves behind is the op before it within the same one, or one that ends
-- later.
WITH op AS (
    SELECT op_id AS span_id, tid, start_ns, end_ns
    FROM trace.op
)
SELECT
    span_id AS op_id,
    parent_id,
    if(parent_id IS NULL, NULL, least(end_ns, parent_end_ns) - start_ns) AS inside_ns,
    is_crossing AND parent_id IS NOT NULL AS is_beside,
    tid,
    start_ns,
    least(end_ns, parent_end_ns) AS end_ns
FROM parents(op)
