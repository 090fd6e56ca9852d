-- One row is a cause of the idle time of the device in or between all steps, the work of the host behind it, and the module, op
-- and host call in which the host was, the longest first. The times of a cause in steps add up to those of free.cause.
--
-- is_between_steps  BOOLEAN  whether it is from the last kernel of a step to the first one of the next, which is part of no
--                            step in free.cause
-- cause             VARCHAR  as in free.cause
-- work              VARCHAR  the activity of the host for which the device waited, the first of these that applies: 'collect
--                            garbage'; 'compile' an op; 'load code', in a launch of 1 ms or more, of no graph; 'allocate'
--                            memory of the device; 'load data'; 'copy', where the call that waits copies between host and
--                            device, or the op that waits has asked for such a copy; 'synchronise'; then, where the host
--                            launched the next kernel late (free.host_part): 'between ops', where nothing is recorded or an op
--                            leaves all to those inside it (free.wrapper), 'launch' for all else up to the end of the launch,
--                            and 'start', the time that the device then needs. NULL where the host is not the cause, or it is
--                            not known
-- module            VARCHAR  path of the module in which the host was; NULL outside modules
-- op_id             TEXT_ID  name of the op in which the host was, as in free.calling_op; NULL for none
-- call_id           TEXT_ID  name of the outermost host call with a role in which the host was; NULL for none
-- function_id       TEXT_ID  of 'between ops' the Python function in which the host was, as in free.python_part; NULL for none,
--                            and where the profile has no calls of Python
-- copies            ENUM('host to device', 'device to host')  what the op of a 'copy' copies; NULL for other work, and where
--                            the profile does not say
-- decade_ns         BIGINT   power of ten: in each of these gaps this work lasts so long, ns, up to ten times as long; NULL for
--                            kernels of no step
-- gap_count         BIGINT   gaps with this cause; a gap of several rows counts in each; NULL for kernels of no step
-- total_ns          BIGINT   their time, ns
-- behind_ns         BIGINT   of 'copy' and 'synchronise': how long these gaps last beyond the end of the last of these, ns: a
--                            host that did not wait could launch meanwhile; else 0
-- phase             VARCHAR  phase of the passes of a server in which or before which the device is idle, as in pass.instance;
--                            NULL when not known, and without passes
WITH bound AS (
    SELECT gap_id, sum(sum(opened)) OVER (ORDER BY gap_id ROWS UNBOUNDED PRECEDING)::BIGINT AS step_count
    FROM (
        SELECT first_gap_id AS gap_id, 1 AS opened FROM free.step_gap
        UNION ALL
        SELECT last_gap_id + 1, -1 FROM free.step_gap
    ) AS edge
    GROUP BY gap_id
),
-- From the first kernel of all steps to the last.
in_steps AS (
    SELECT min(kernel_step.start_ns) AS start_ns, max(kernel_step.end_ns) AS end_ns
    FROM step.kernel_step
    JOIN step.time ON time.step_id IS NOT DISTINCT FROM kernel_step.step_id
    WHERE time.free_ns IS NOT NULL
),
-- The gaps from there on, each with the number of steps in which it lies.
placed_gap AS (
    SELECT gap.gap_id, gap.end_ns - clock.offset_ns AS end_ns, coalesce(bound.step_count, 0) AS step_count
    FROM free.gap
    CROSS JOIN in_steps
    -- All pairs: the offset of the clock is one row.
    CROSS JOIN clock.offset AS clock
    ASOF LEFT JOIN bound ON bound.gap_id <= gap.gap_id
    WHERE gap.start_ns >= in_steps.start_ns AND gap.end_ns <= in_steps.end_ns
),
placed_turn AS (
    SELECT pass_id, next_id, start_ns, end_ns
    FROM pass.turn
),
recorded_gap AS (
    SELECT gap_id, start_ns, end_ns
    FROM free.gap
),
phase_of_gap AS (
    SELECT placed.gap_id, instance.phase
    FROM gaps_of_turns(recorded_gap, placed_turn) AS placed
    JOIN pass.instance ON instance.pass_id = coalesce(placed.pass_id, placed.next_id)
),
-- The copy that the host requested; it does not wait for a copy within the device.
copying_request AS (
    SELECT copy_request.tid, copy_request.asked_ns, min(coalesce(copy.direction::VARCHAR, 'unknown')) AS direction
    FROM step.copy_request
    JOIN trace.copy USING (copy_id)
    WHERE coalesce(copy.direction IN ('host to device', 'device to host'), true)
    GROUP BY copy_request.tid, copy_request.asked_ns
),
copying_launch AS (
    SELECT launch_id, min(coalesce(direction::VARCHAR, 'unknown')) AS direction
    FROM trace.copy
    WHERE launch_id IS NOT NULL AND coalesce(direction IN ('host to device', 'device to host'), true)
    GROUP BY launch_id
),
-- A wrapper does not wait for the ops inside it.
waiting_part AS (
    SELECT DISTINCT part.op_id, part.host_api_id, outer_op.tid, outer_op.start_ns, call.end_ns
    FROM free.host_part AS part
    JOIN free.calling_op USING (op_id)
    JOIN trace.op AS outer_op ON outer_op.op_id = calling_op.outer_id
    JOIN trace.host_api AS call USING (host_api_id)
    WHERE part.cause = 'waiting in a synchronise'
        AND part.op_id NOT IN (FROM free.wrapper)
        AND calling_op.outer_id NOT IN (FROM free.wrapper)
),
copying_op AS (
    SELECT waiting_part.op_id, waiting_part.host_api_id, copying_request.direction
    FROM waiting_part
    ASOF JOIN copying_request ON copying_request.tid = waiting_part.tid AND copying_request.asked_ns <= waiting_part.end_ns
    WHERE copying_request.asked_ns >= waiting_part.start_ns
),
-- To launch a graph of many kernels takes long, too.
replay AS (
    SELECT DISTINCT launch_id
    FROM trace.launch
    WHERE is_replay
),
part AS (
    SELECT
        part.gap_id,
        part.start_ns,
        part.end_ns,
        part.end_ns - part.start_ns AS duration_ns,
        part.cause,
        CASE
            WHEN part.cause = 'garbage collection' THEN 'collect garbage'
            WHEN call.role = 'compile' THEN 'compile'
            WHEN call.role = 'launch' AND call.duration_ns >= 1000000 AND replay.launch_id IS NULL THEN 'load code'
            WHEN call.role = 'allocate' THEN 'allocate'
            WHEN part.cause = 'data loading' THEN 'load data'
            WHEN part.cause = 'waiting in a synchronise'
                THEN if(coalesce(copying_launch.direction, copying_op.direction) IS NULL, 'synchronise', 'copy')
            WHEN part.is_late AND part.is_launched THEN if(part.cause = 'between queue and device', 'start', NULL)
            WHEN part.is_late THEN if(part.cause = 'nothing recorded', 'between ops', 'launch')
        END AS work,
        part.interval_id,
        calling_op.name_id AS op_id,
        call.name_id AS call_id,
        python_part.function_id,
        coalesce(copying_launch.direction, copying_op.direction) AS copies
    FROM free.host_part AS part
    LEFT JOIN free.calling_op USING (op_id)
    LEFT JOIN free.python_part ON python_part.gap_id = part.gap_id AND python_part.start_ns = part.start_ns
    LEFT JOIN copying_op ON copying_op.op_id = part.op_id AND copying_op.host_api_id = part.host_api_id
    LEFT JOIN trace.host_api AS call ON call.host_api_id = part.host_api_id
    LEFT JOIN copying_launch ON copying_launch.launch_id = call.launch_id
    LEFT JOIN replay ON replay.launch_id = call.launch_id
),
in_gap AS (
    SELECT
        part.gap_id,
        part.cause,
        part.work,
        path.path_id,
        part.op_id,
        part.call_id,
        part.function_id,
        if(part.work = 'copy', part.copies, NULL) AS copies,
        sum(part.duration_ns)::BIGINT AS duration_ns,
        max(part.end_ns) AS end_ns
    FROM part
    LEFT JOIN module.call USING (interval_id)
    LEFT JOIN module.path USING (path_key, is_backward)
    GROUP BY part.gap_id, part.cause, part.work, path.path_id, part.op_id, part.call_id, part.function_id, copies
),
work_in_gap AS (
    SELECT gap_id, work, sum(duration_ns)::BIGINT AS duration_ns
    FROM in_gap
    GROUP BY gap_id, work
),
wait_in_gap AS (
    SELECT gap_id, max(end_ns) AS end_ns
    FROM in_gap
    WHERE work IN ('copy', 'synchronise')
    GROUP BY gap_id
),
weighed_part AS (
    SELECT
        in_gap.cause,
        in_gap.work,
        in_gap.path_id,
        in_gap.op_id,
        in_gap.call_id,
        in_gap.function_id,
        in_gap.copies,
        phase_of_gap.phase,
        10 ** (length(work_in_gap.duration_ns::VARCHAR) - 1) AS decade_ns,
        gap.step_count = 0 AS is_between_steps,
        greatest(gap.step_count, 1) AS step_count,
        in_gap.duration_ns,
        CASE
            WHEN in_gap.work IN ('copy', 'synchronise') AND in_gap.end_ns = wait_in_gap.end_ns THEN gap.end_ns - in_gap.end_ns
            ELSE 0
        END AS behind_ns
    FROM in_gap
    JOIN placed_gap AS gap USING (gap_id)
    JOIN work_in_gap ON work_in_gap.gap_id = in_gap.gap_id AND work_in_gap.work IS NOT DISTINCT FROM in_gap.work
    LEFT JOIN wait_in_gap ON wait_in_gap.gap_id = in_gap.gap_id
    LEFT JOIN phase_of_gap ON phase_of_gap.gap_id = in_gap.gap_id
),
cause_total AS (
    SELECT
        is_between_steps,
        cause,
        work,
        path_id,
        op_id,
        call_id,
        function_id,
        copies,
        phase,
        decade_ns,
        sum(step_count)::BIGINT AS gap_count,
        sum(duration_ns * step_count)::BIGINT AS total_ns,
        sum(behind_ns * step_count)::BIGINT AS behind_ns
    FROM weighed_part
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT false AS is_between_steps, cause, sum(total_ns)::BIGINT AS total_ns, 0 AS behind_ns
    FROM free.cause
    WHERE cause = 'kernels of no step'
    GROUP BY cause
)
SELECT
    cause_total.is_between_steps,
    cause_total.cause,
    cause_total.work,
    path.module_path AS module,
    cause_total.op_id,
    cause_total.call_id,
    cause_total.function_id,
    nullif(cause_total.copies, 'unknown')::ENUM('host to device', 'device to host') AS copies,
    cause_total.decade_ns::BIGINT AS decade_ns,
    cause_total.gap_count,
    cause_total.total_ns,
    cause_total.behind_ns,
    cause_total.phase
FROM cause_total
LEFT JOIN module.path USING (path_id)
LEFT JOIN trace.string AS op_name ON op_name.text_id = cause_total.op_id
LEFT JOIN trace.string AS call_name ON call_name.text_id = cause_total.call_id
ORDER BY
    cause_total.total_ns DESC,
    cause_total.cause,
    cause_total.work,
    cause_total.path_id,
    op_name.text,
    call_name.text,
    cause_total.copies,
    cause_total.decade_ns,
    cause_total.is_between_steps,
    cause_total.phase
