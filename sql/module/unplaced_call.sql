-- One row is an outermost module call that lay in another one which the profile does not hold, so that its path is not known.
--
-- interval_id  BIGINT   an interval of module.interval
-- is_cut       BOOLEAN  whether the call around it began before the recording or ended after it; else it runs in backward work
--                       whose forward op is not known
--
-- Besides the calls of module.cut and module.open_call, these are calls that a backward runs again (activation recomputation):
-- in a task without a known forward op, or on a thread of the autograd engine before its first task or after its last one,
-- where the engine's row around them is cut, if the forward ran calls of that class on another thread and inside others.
WITH outermost AS (
    SELECT interval.interval_id, interval.tid, interval.name_id, interval.start_ns, interval.end_ns
    FROM module.interval
    JOIN module.interval_parent USING (interval_id)
    WHERE interval.kind = 'module' AND interval_parent.parent_id IS NULL AND interval.tid >= 0
),
inside AS (
    SELECT DISTINCT interval.tid, interval.name_id
    FROM module.interval
    JOIN module.interval_parent USING (interval_id)
    WHERE interval.kind = 'module' AND interval_parent.parent_id IS NOT NULL
),
task AS (
    SELECT tid, start_ns, end_ns FROM module.autograd_task
    UNION ALL
    SELECT tid, start_ns, end_ns FROM module.unpaired_task
),
engine AS (
    SELECT tid, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM task
    GROUP BY tid
),
at_edge AS (
    SELECT DISTINCT outermost.interval_id
    FROM outermost
    -- All pairs: a thread of the engine has one row.
    JOIN engine ON engine.tid = outermost.tid AND (outermost.end_ns <= engine.start_ns OR outermost.start_ns >= engine.end_ns)
    JOIN inside ON inside.name_id = outermost.name_id AND inside.tid <> outermost.tid
),
last_unpaired AS (
    SELECT tid, start_ns, max(end_ns) AS end_ns
    FROM module.unpaired_task
    GROUP BY tid, start_ns
)
SELECT edge_call.interval_id, true AS is_cut
FROM module.edge_call
JOIN module.cut USING (tid, edge)
WHERE cut.is_proven AND edge_call.distance <= cut.call_count
UNION
SELECT interval_id, true
FROM at_edge
UNION
SELECT outermost.interval_id, true
FROM outermost
JOIN module.open_call USING (tid)
WHERE open_call.is_proven AND outermost.start_ns >= open_call.start_ns
UNION
SELECT outermost.interval_id, false
FROM outermost
ASOF JOIN last_unpaired ON last_unpaired.tid = outermost.tid AND last_unpaired.start_ns <= outermost.start_ns
WHERE last_unpaired.end_ns >= outermost.end_ns
