-- One row is a call of a compiled graph with where it enters C++ and the graph engine, and the first that it runs on the device.
--
-- call_id          BIGINT  a call of graph.inference
-- run_ns           BIGINT  start of TorchNpuGraphBase::Run, Unix ns; NULL where there is none
-- execute_ns       BIGINT  start of ExecuteGraph, Unix ns; NULL where there is none
-- first_kernel_ns  BIGINT  start of the first kernel that was launched from there on, Unix ns; NULL where no launch of it is known
WITH inside AS (
    SELECT call.call_id, event.role, event.start_ns
    FROM graph.event
    ASOF JOIN graph.inference AS call ON call.tid = event.tid AND event.start_ns >= call.start_ns
    WHERE event.role IN ('run', 'execute') AND event.end_ns <= call.end_ns
),
executed AS (
    SELECT
        call_id,
        min(start_ns) FILTER (role = 'run') AS run_ns,
        min(start_ns) FILTER (role = 'execute') AS execute_ns
    FROM inside
    GROUP BY call_id
),
in_engine AS (
    SELECT call.call_id, call.tid, executed.execute_ns, call.end_ns
    FROM executed
    JOIN graph.inference AS call USING (call_id)
    WHERE execute_ns IS NOT NULL
),
launch AS (
    SELECT tid, start_ns, launch_id
    FROM trace.host_api
    WHERE launch_id IS NOT NULL
),
own_launch AS (
    SELECT in_engine.call_id, launch.launch_id
    FROM launch
    ASOF JOIN in_engine ON in_engine.tid = launch.tid AND launch.start_ns >= in_engine.execute_ns
    WHERE launch.start_ns <= in_engine.end_ns
),
-- The engine can launch from threads of its own.
other_launch AS (
    SELECT in_engine.call_id, launch.launch_id
    FROM launch
    ASOF JOIN in_engine ON launch.start_ns >= in_engine.execute_ns
    WHERE launch.start_ns <= in_engine.end_ns AND launch.tid != in_engine.tid
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
SELECT executed.call_id, executed.run_ns, executed.execute_ns, first_kernel.start_ns AS first_kernel_ns
FROM executed
LEFT JOIN first_kernel USING (call_id)
