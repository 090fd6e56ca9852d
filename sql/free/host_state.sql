-- One row is a change of state of a host thread. `aspect` says which state changed: 1 to 4, whether the thread is busy with one
-- of the first n activities of free.host_stretch; 5, the innermost op; 6, the innermost module call or autograd task; 7, the
-- outermost call into the software of the device that has a role.
--
-- @unique phase by start_ns, tid: gaps do not overlap, nor do their phases
--
-- tid     BIGINT   host thread: process id * 2^32 + thread id; only threads for which the device waits, and only states that
--                  last into a phase of free.host_phase there
-- aspect  INTEGER  the state that changed, 1 to 7
-- at_ns   BIGINT   when it changed, Unix ns
-- state   BIGINT   the new state; of 1 to 4: 1 when busy; of 5: an op of trace.op; of 6: an interval of module.interval; of 7:
--                  a call of trace.host_api; NULL for none
WITH phase AS (
    SELECT tid, start_ns, end_ns
    FROM free.host_phase
    WHERE tid IS NOT NULL
),
thread AS (
    SELECT DISTINCT tid
    FROM phase
),
op AS (
    SELECT op.op_id, op.tid, op.start_ns, op.start_ns + coalesce(parent.inside_ns, op.duration_ns) AS end_ns, parent.parent_id
    FROM trace.op
    SEMI JOIN thread USING (tid)
    JOIN op.parent USING (op_id)
    WHERE NOT op.is_step
),
-- An op around a step does not count as op.
op_around AS (
    SELECT op.op_id, op.tid, op.start_ns, op.end_ns, around.op_id AS around_id
    FROM op
    LEFT JOIN op AS around ON around.op_id = op.parent_id
),
nested AS (
    SELECT 5 AS aspect, op_id AS id, tid, start_ns, end_ns, around_id
    FROM op_around
    UNION ALL
    SELECT 6, interval.interval_id, interval.tid, interval.start_ns, interval.end_ns, parent.parent_id
    FROM module.interval
    SEMI JOIN thread USING (tid)
    JOIN module.interval_parent AS parent USING (interval_id)
    UNION ALL
    SELECT 7, around.host_api_id, around.tid, around.start_ns, around.end_ns, NULL
    FROM free.host_call_around AS around
    SEMI JOIN thread USING (tid)
    UNION ALL
    SELECT things, 1, tid, start_ns, end_ns, NULL
    FROM free.host_stretch
),
-- Only what lasts into a phase in which the device waits for its thread: at a million kernels half of all. With that, the parts
-- of gaps take 11.6 s of CPU in place of 21.6.
during AS (
    SELECT nested.*
    FROM nested
    ASOF JOIN phase ON phase.tid = nested.tid AND nested.end_ns > phase.start_ns
    WHERE nested.end_ns > nested.start_ns AND nested.start_ns < phase.end_ns
),
-- At its start the innermost is the new one, at its end the one around it. Where several start or end at once, the last that
-- starts is the innermost, and the first that had started leaves the one around it; what starts counts before what ends.
moment AS (
    SELECT aspect, tid, start_ns AS at_ns, id AS state, 1 AS starts, pair_key(-end_ns, id) AS position
    FROM during
    UNION ALL
    SELECT aspect, tid, end_ns, around_id, 0, pair_key(-start_ns, -id)
    FROM during
),
decided AS (
    SELECT
        aspect,
        tid,
        at_ns,
        max(starts) AS starts,
        arg_max_null(state, position) FILTER (starts = 1) AS started,
        arg_max_null(state, position) FILTER (starts = 0) AS ended
    FROM moment
    GROUP BY aspect, tid, at_ns
)
SELECT tid, aspect, at_ns, if(starts = 1, started, ended) AS state
FROM decided
