-- One row is a kernel that moves the KV cache, by its own name, or since a call on the host that moves it launched it. Copies
-- count where they are kernels (in GPU traces). With a step chosen, only kernels of that step.
--
-- @guard pass.kv_name
-- @unique call by tid, start_ns: of a thread, only outermost calls are there
--
-- kernel_id  BIGINT   a kernel of trace.kernel
-- mover      VARCHAR  what moves it, as in pass.kv_name
-- shown_by   VARCHAR  kernel or call: whose name says it
-- name_id    TEXT_ID  that name
-- kind       ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernel
-- start_ns   BIGINT   start, Unix ns
-- end_ns     BIGINT   end, Unix ns
WITH call AS (FROM pass.kv_call),
shown AS (
    SELECT kernel_id, mover, 'kernel' AS shown_by, kernel.name_id
    FROM trace.kernel
    JOIN pass.kv_name ON kv_name.name_id = kernel.name_id
    UNION ALL
    SELECT kernel_id, mover, 'kernel', kernel.type_id
    FROM trace.kernel
    JOIN pass.kv_name ON kv_name.name_id = kernel.type_id
    UNION ALL
    SELECT asked.kernel_id, call.mover, 'call', call.name_id
    FROM kernels.asked
    ASOF JOIN call ON call.tid = asked.tid AND asked.asked_ns >= call.start_ns
    WHERE asked.asked_ns < call.end_ns
),
first_shown AS (
    SELECT
        kernel_id,
        arg_min((mover, shown_by, name_id), (shown_by = 'call', name_id)) AS shown
    FROM shown
    GROUP BY kernel_id
)
SELECT
    kernel.kernel_id,
    shown[1] AS mover,
    shown[2] AS shown_by,
    shown[3] AS name_id,
    kernel.kind,
    kernel.start_ns,
    kernel.end_ns
FROM first_shown
JOIN step.kernel_step AS kernel USING (kernel_id)
WHERE getvariable('step_id') IS NULL OR kernel.step_id = getvariable('step_id')
