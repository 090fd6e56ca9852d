-- One row is the time on the host before it first launches work: from the start of the first step, without steps of the first
-- op, or from the end of the last call there that waits for the device, up to the first launch, or the first kernel if that
-- comes first; and what most of it goes to. Where kernels ran before that start, or it or the launch is not known, there is no
-- row.
--
-- step_id      BIGINT   the first step; NULL without steps
-- start_ns     BIGINT   start, Unix ns, on the clock of the host
-- end_ns       BIGINT   first launch or start of the first kernel, Unix ns, on the clock of the host
-- duration_ns  BIGINT   end - start
-- op_id        TEXT_ID  the outermost op with the most time in it, by name; NULL where no op runs
-- op_ns        BIGINT   its time there, ns; NULL without op_id
-- frame_id     TEXT_ID  the innermost call of a Python function that lasts for half of the time or more; NULL without one, and
--                       where the tracer of Python did not run
-- frame_ns     BIGINT   its time there, ns; NULL without frame_id
WITH first_step AS (
    SELECT step_id, preparing_ns
    FROM step.time
    WHERE preparing_ns > 0 AND idle_before_ns IS NULL AND origin = 'kernels'
    ORDER BY step_id
    LIMIT 1
),
host_begin AS (
    SELECT
        (SELECT min(start_ns) FROM trace.step WHERE step_id = (SELECT step_id FROM first_step)) AS step_ns,
        (SELECT min(start_ns) FROM trace.op) AS op_ns
),
up_to_kernel AS (
    SELECT
        first_step.step_id,
        if(first_step.step_id IS NULL, host_begin.op_ns, host_begin.step_ns) AS start_ns,
        start_ns + first_step.preparing_ns AS end_ns
    FROM first_step
    CROSS JOIN host_begin
),
-- A device starts within microseconds: kernels of earlier launches were not recorded, nor what a synchronise waited for.
call_bound AS (
    SELECT
        min(call.start_ns) FILTER (call.role = 'launch') AS launch_ns,
        max(call.end_ns) FILTER (call.role = 'synchronise' AND call.end_ns < up_to_kernel.end_ns) AS waited_ns
    FROM trace.host_api AS call
    CROSS JOIN up_to_kernel
    WHERE call.end_ns > up_to_kernel.start_ns AND call.start_ns < up_to_kernel.end_ns
),
before_kernel AS (
    SELECT
        up_to_kernel.step_id,
        greatest(up_to_kernel.start_ns, call_bound.waited_ns) AS start_ns,
        least(up_to_kernel.end_ns, call_bound.launch_ns) AS end_ns
    FROM up_to_kernel
    CROSS JOIN call_bound
    WHERE call_bound.launch_ns IS NOT NULL
),
outermost_op AS (
    SELECT
        op.name_id,
        sum(least(op.end_ns, before_kernel.end_ns) - greatest(op.start_ns, before_kernel.start_ns))::BIGINT AS op_ns
    FROM trace.op
    JOIN op.parent USING (op_id)
    LEFT JOIN trace.op AS around ON around.op_id = parent.parent_id
    CROSS JOIN before_kernel
    WHERE NOT op.is_step
        AND coalesce(around.is_step, true)
        AND op.start_ns < before_kernel.end_ns
        AND op.end_ns > before_kernel.start_ns
    GROUP BY op.name_id
),
longest_op AS (
    SELECT arg_max(name_id, (op_ns, name_id)) AS name_id, max(op_ns) AS op_ns
    FROM outermost_op
),
lasting_frame AS (
    SELECT
        frame.name_id,
        frame.end_ns - frame.start_ns AS duration_ns,
        frame.frame_id,
        least(frame.end_ns, before_kernel.end_ns) - greatest(frame.start_ns, before_kernel.start_ns) AS frame_ns
    FROM trace.frame
    CROSS JOIN before_kernel
    WHERE frame_ns * 2 >= before_kernel.end_ns - before_kernel.start_ns
),
innermost_frame AS (
    SELECT arg_min(name_id, (duration_ns, -frame_id)) AS name_id, arg_min(frame_ns, (duration_ns, -frame_id)) AS frame_ns
    FROM lasting_frame
)
SELECT
    before_kernel.step_id,
    before_kernel.start_ns,
    before_kernel.end_ns,
    before_kernel.end_ns - before_kernel.start_ns AS duration_ns,
    longest_op.name_id AS op_id,
    longest_op.op_ns,
    innermost_frame.name_id AS frame_id,
    innermost_frame.frame_ns
FROM before_kernel
CROSS JOIN longest_op
CROSS JOIN innermost_frame
WHERE before_kernel.end_ns > before_kernel.start_ns
