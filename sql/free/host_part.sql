-- One row is a part of a gap in which the host did one thing. The parts of a gap add up to the gap, and those with one cause to
-- the time of that cause in free.gap_cause.
--
-- gap_id       BIGINT   a gap of free.gap
-- start_ns     BIGINT   start, Unix ns, on the clock of the host
-- end_ns       BIGINT   end, Unix ns, on the clock of the host
-- cause        VARCHAR  as in free.gap_cause
-- is_late      BOOLEAN  whether the host launched the next kernel only after the gap had begun: when the device became idle,
--                       nothing was left for it to do; false where a replayed graph goes on, and at an edge of the recording
-- is_launched  BOOLEAN  whether it comes after the end of the launch
-- op_id        BIGINT   up to the request for the next kernel, the innermost op that the host thread ran; from the request on,
--                       the op that launched the kernel; an op of trace.op, NULL without one, and where nothing inside a
--                       wrapper (free.wrapper) ran
-- interval_id  BIGINT   in the same way the innermost interval of module.interval; from the request on that of the kernel; NULL
--                       without one
-- host_api_id  BIGINT   the outermost call of trace.host_api that has a role, on the thread that requested the kernel, and from
--                       the request on on the thread that launches it, until it has; NULL without one
WITH phase_up_to_request AS (
    -- Whether the gap is late goes along in the key.
    SELECT gap_id * 2 + is_late::INTEGER AS key, tid, start_ns, end_ns
    FROM free.host_phase
    WHERE phase = 1
),
phase_up_to_launch AS (
    SELECT gap_id * 2 + is_late::INTEGER AS key, tid, start_ns, end_ns
    FROM free.host_phase
    WHERE phase = 2 AND tid IS NOT NULL
),
thread AS (
    SELECT DISTINCT tid
    FROM phase_up_to_request
),
step AS (
    SELECT op_id
    FROM trace.op
    WHERE is_step
),
-- All from op.parent: to join it with trace.op takes 2 s more for a million kernels.
op AS (
    SELECT op_id, tid, start_ns, end_ns, parent_id
    FROM op.parent
    SEMI JOIN thread USING (tid)
    ANTI JOIN step USING (op_id)
),
-- In the place and order of states(): the activities, of which the first thing of free.host_stretch is the innermost, the op,
-- the module, and the call.
span AS (
    SELECT 1 AS aspect, 5 - things AS state, tid, start_ns, end_ns, if(things = 4, NULL, 4 - things) AS around
    FROM free.host_stretch
    SEMI JOIN thread USING (tid)
    UNION ALL
    -- A step does not count as op.
    SELECT 2, op.op_id, op.tid, op.start_ns, op.end_ns, if(step.op_id IS NULL, op.parent_id, NULL)
    FROM op
    LEFT JOIN step ON step.op_id = op.parent_id
    UNION ALL
    SELECT 3, interval.interval_id, interval.tid, interval.start_ns, interval.end_ns, parent.parent_id
    FROM module.interval
    SEMI JOIN thread USING (tid)
    JOIN module.interval_parent AS parent USING (interval_id)
    UNION ALL
    SELECT 4, host_api_id, tid, start_ns, end_ns, NULL
    FROM free.host_call_around
    SEMI JOIN thread USING (tid)
),
call_span AS (
    SELECT 4 AS aspect, host_api_id AS state, tid, start_ns, end_ns, NULL::BIGINT AS around
    FROM free.host_call_around
),
up_to_request AS (
    SELECT
        key // 2 AS gap_id,
        start_ns,
        end_ns,
        (key & 1) = 1 AS is_late,
        CASE state_1
            WHEN 4 THEN 'garbage collection'
            WHEN 3 THEN 'waiting in a synchronise'
            WHEN 2 THEN 'data loading'
            WHEN 1 THEN 'inside an op'
            ELSE 'nothing recorded'
        END AS cause,
        if(state_1 IS NULL, NULL, state_2) AS op_id,
        state_3 AS interval_id,
        state_4 AS host_api_id
    FROM states(phase_up_to_request, span)
),
-- Most phases lie after the launch: nothing of the host divides them.
from_request AS (
    SELECT
        key // 2 AS gap_id,
        start_ns,
        end_ns,
        'between queue and device' AS cause,
        (key & 1) = 1 AS is_late,
        false AS is_launched,
        state_4 AS host_api_id
    FROM states(phase_up_to_launch, call_span)
    UNION ALL
    -- Where the launch is not recorded, a long wait for it is no start.
    SELECT gap_id, start_ns, end_ns, cause, is_late, phase < 5 AND (phase <> 3 OR cause <> 'between queue and device'), NULL
    FROM free.host_phase
    WHERE phase > 2
),
-- The op and the interval of the kernel for which the device waits.
requested AS (
    SELECT gap.gap_id, kernel_op.host_op_id AS op_id, op_interval.interval_id
    FROM free.gap
    JOIN trace.kernel ON kernel.kernel_id = gap.kernel_after_id
    LEFT JOIN module.kernel_op ON kernel_op.kernel_id = gap.kernel_after_id
    LEFT JOIN module.bare_launch ON bare_launch.launch_id = kernel.launch_id
    LEFT JOIN trace.replayed_kernel ON replayed_kernel.kernel_id = gap.kernel_after_id
    LEFT JOIN module.op_interval ON op_interval.op_id = coalesce(replayed_kernel.op_id, kernel_op.op_id, bare_launch.op_id)
),
explained_part AS (
    SELECT
        gap_id,
        start_ns,
        end_ns,
        cause,
        is_late,
        false AS is_launched,
        op_id,
        interval_id,
        host_api_id
    FROM up_to_request
    UNION ALL
    SELECT
        from_request.gap_id,
        from_request.start_ns,
        from_request.end_ns,
        from_request.cause,
        from_request.is_late,
        from_request.is_launched,
        requested.op_id,
        requested.interval_id,
        from_request.host_api_id
    FROM from_request
    JOIN requested USING (gap_id)
)
SELECT
    explained_part.gap_id,
    explained_part.start_ns,
    explained_part.end_ns,
    if(
        edge.gap_id IS NOT NULL
        AND explained_part.cause NOT IN (
            'garbage collection', 'waiting in a synchronise', 'data loading', 'inside an op', 'between queue and device'
        ),
        'edge of the recording',
        explained_part.cause
    ) AS cause,
    explained_part.is_late AND edge.gap_id IS NULL AS is_late,
    explained_part.is_launched,
    explained_part.op_id,
    explained_part.interval_id,
    explained_part.host_api_id
FROM explained_part
LEFT JOIN free.edge USING (gap_id)
