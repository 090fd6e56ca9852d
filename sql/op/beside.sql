-- One row is an op that starts before the one before it within the same op has ended, and the time that both take.
--
-- parent_id  BIGINT  the op around both
-- beside_ns  BIGINT  the time within it that both take, ns
--
-- Only ops within which others may overlap need them in order: to sort all 3.7 M ops of a million kernels took 1 s of CPU.
WITH crowded AS (
    SELECT DISTINCT parent_id
    FROM op.parent
    WHERE is_beside
),
in_order AS (
    SELECT
        parent.parent_id,
        op.start_ns,
        op.start_ns + parent.inside_ns AS end_ns,
        -- Of two neighbours inside an op the later one ends later, or it would lie in the other.
        lag(op.end_ns) OVER (PARTITION BY parent.parent_id ORDER BY op.start_ns, op.end_ns DESC, op.op_id) AS neighbour_end_ns
    FROM op.parent
    JOIN trace.op USING (op_id)
    SEMI JOIN crowded USING (parent_id)
)
SELECT parent_id, least(end_ns, neighbour_end_ns) - start_ns AS beside_ns
FROM in_order
WHERE neighbour_end_ns > start_ns
