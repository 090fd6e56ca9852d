-- One row is a call of a compiled graph with when it enters C++ and the graph engine, and its first kernel on the device.
--
-- @unique inference by start_ns, tid: calls of a thread do not overlap
-- @unique in_engine by execute_ns, tid: calls of a thread do not overlap, and what starts where one ends is the next one's
--
-- call_id          BIGINT  a call of graph.inference
-- run_ns           BIGINT  start of TorchNpuGraphBase::Run, Unix ns; NULL without one
-- execute_ns       BIGINT  start of ExecuteGraph, Unix ns; NULL without one
-- first_kernel_ns  BIGINT  start of the first kernel that it launched from ExecuteGraph on, Unix ns, on the clock of the host;
--                          NULL where no such kernel is known
--
-- A launch on a thread other than the call's counts for the one call that is in the engine at that moment. While several calls
-- are, it is not known which one made the launch, so it counts for none.
WITH inside AS (
    SELECT call.call_id, event.role, event.start_ns
    FROM graph.event
    ASOF JOIN graph.inference AS call ON call.tid = event.tid AND event.start_ns >= call.start_ns
    WHERE event.role IN ('run', 'execute') AND event.end_ns <= call.end_ns
),
executed_call AS (
    SELECT
        call_id,
        min(start_ns) FILTER (role = 'run') AS run_ns,
        min(start_ns) FILTER (role = 'execute') AS execute_ns
    FROM inside
    GROUP BY call_id
),
in_engine AS (
    SELECT call.call_id, call.tid, executed_call.execute_ns, call.end_ns
    FROM executed_call
    JOIN graph.inference AS call USING (call_id)
    WHERE execute_ns IS NOT NULL
),
launch AS (
    SELECT tid, start_ns, launch_id
    FROM trace.host_api
    WHERE launch_id IS NOT NULL
),
own_launch AS (
    SELECT in_engine.call_id, launch.launch_id, launch.tid, launch.start_ns
    FROM launch
    ASOF JOIN in_engine ON in_engine.tid = launch.tid AND launch.start_ns >= in_engine.execute_ns
    WHERE launch.start_ns <= in_engine.end_ns
),
-- The number of calls in the engine and the sum of their ids, which for a single call is its id. A call is in the engine up to
-- and including its last ns.
change AS (
    SELECT execute_ns AS at_ns, 1 AS calls, call_id
    FROM in_engine
    UNION ALL
    SELECT end_ns + 1, -1, -call_id
    FROM in_engine
),
engine AS (
    SELECT at_ns, sum(sum(calls)) OVER by_time AS calls, sum(sum(call_id)) OVER by_time AS call_id
    FROM change
    GROUP BY at_ns
    WINDOW by_time AS (ORDER BY at_ns ROWS UNBOUNDED PRECEDING)
),
-- The engine can launch from threads of its own.
other_launch AS (
    SELECT engine.call_id::BIGINT AS call_id, launch.launch_id
    FROM launch
    ANTI JOIN own_launch USING (launch_id, tid, start_ns)
    ASOF JOIN engine ON launch.start_ns >= engine.at_ns
    WHERE engine.calls = 1
),
any_launch AS (
    SELECT call_id, launch_id, true AS is_own
    FROM own_launch
    UNION ALL
    SELECT call_id, launch_id, false AS is_own
    FROM other_launch
),
first_kernel AS (
    SELECT
        call_id,
        coalesce(min(kernel.start_ns) FILTER (is_own), min(kernel.start_ns)) AS start_ns
    FROM any_launch
    JOIN trace.kernel USING (launch_id)
    GROUP BY call_id
)
SELECT
    executed_call.call_id,
    executed_call.run_ns,
    executed_call.execute_ns,
    first_kernel.start_ns - clock.offset_ns AS first_kernel_ns
FROM executed_call
-- All pairs: the offset of the clock is one row.
CROSS JOIN clock.offset AS clock
LEFT JOIN first_kernel USING (call_id)
