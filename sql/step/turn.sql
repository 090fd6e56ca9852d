-- One row is a stretch of time in which a step has its turn on the device, where steps overlap there: of those that have begun
-- and not ended, the one that ends first; so each moment belongs to one step at most. Where no steps overlap there are no rows:
-- a step has its turn from its first kernel to its last.
--
-- @guard step.overlap
--
-- step_id   BIGINT  a step of trace.step
-- start_ns  BIGINT  start, Unix ns
-- end_ns    BIGINT  end, Unix ns
WITH span AS (
    SELECT step_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM step.kernel_step
    WHERE step_id IS NOT NULL
    GROUP BY step_id
),
all_spans AS (
    SELECT
        list(step_id ORDER BY start_ns, step_id) AS step_ids,
        turns(list(start_ns ORDER BY start_ns, step_id), list(end_ns ORDER BY start_ns, step_id)) AS turns
    FROM span
),
one_turn AS (
    SELECT step_ids, unnest(turns) AS turn
    FROM all_spans
)
SELECT step_ids[turn.place + 1] AS step_id, turn.start AS start_ns, turn."end" AS end_ns
FROM one_turn
