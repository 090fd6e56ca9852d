-- One row is a communication operator, or its part in the time of a step (step.kernel_time), and how long it is exposed: no
-- compute kernel of the step runs, nor an operator of the step that began earlier, so that the operators of a step add up to
-- communication_not_overlapped_ns of step.time.
--
-- @unique computed by start_ns, step_key: step.computed has a row a step and moment
--
-- kernel_id   BIGINT   a communication kernel of trace.kernel
-- step_id     BIGINT   step for which its time counts, as in step.kernel_time; NULL when of no step, and without steps
-- is_last     BOOLEAN  whether it ends there, as in step.kernel_time
-- from_ns     BIGINT   from here on no operator of the step that began earlier runs, Unix ns
-- exposed_ns  BIGINT   time from there to its end in which no compute kernel of the step runs, ns
WITH operator AS (
    SELECT
        kernel_time.kernel_id,
        kernel_time.step_id,
        -- An ASOF join compares no NULL.
        coalesce(kernel_time.step_id, -9223372036854775808) AS step_key,
        kernel_time.start_ns,
        kernel_time.end_ns,
        kernel_time.is_last,
        name.text AS name
    FROM step.kernel_time
    LEFT JOIN trace.kernel USING (kernel_id)
    LEFT JOIN trace.string AS name ON name.text_id = kernel.name_id
    WHERE kernel_time.kind = 'communication'
      AND (getvariable('step_id') IS NULL OR kernel_time.step_id = getvariable('step_id'))
),
piece AS (
    SELECT kernel_id, step_id, step_key, from_ns, end_ns, is_last
    FROM added(operator, step_id, (name, kernel_id))
),
at_from AS (
    SELECT piece.*, covered_until(computed.covered_ns, computed.reached_ns, piece.from_ns) AS computing_ns
    FROM piece
    ASOF LEFT JOIN step.computed ON computed.step_key = piece.step_key AND computed.start_ns <= piece.from_ns
),
at_end AS (
    SELECT at_from.*, covered_until(computed.covered_ns, computed.reached_ns, at_from.end_ns) AS computing_until_end_ns
    FROM at_from
    ASOF LEFT JOIN step.computed ON computed.step_key = at_from.step_key AND computed.start_ns <= at_from.end_ns
)
SELECT
    kernel_id,
    step_id,
    is_last,
    from_ns,
    (greatest(0, end_ns - from_ns) - greatest(0, computing_until_end_ns - computing_ns))::BIGINT AS exposed_ns
FROM at_end
