-- One row is a communication operator and how long it is exposed: no compute kernel of its step runs, nor an operator of the
-- step that began earlier, so that the operators of a step add up to communication_not_overlapped_ns of step.time.
--
-- @unique computed by start_ns, step_key: covered() has a row a step and moment
--
-- kernel_id   BIGINT  a communication kernel of trace.kernel
-- step_id     BIGINT  step; NULL when of no step, and without steps
-- from_ns     BIGINT  from here on no operator of the step that began earlier runs, Unix ns
-- exposed_ns  BIGINT  time from there to its end in which no compute kernel of the step runs, ns
WITH operator AS (
    SELECT
        kernel_step.kernel_id,
        kernel_step.step_id,
        -- An ASOF join compares no NULL.
        coalesce(kernel_step.step_id, -9223372036854775808) AS step_key,
        kernel_step.start_ns,
        kernel_step.end_ns,
        name.text AS name
    FROM step.kernel_step
    LEFT JOIN trace.kernel USING (kernel_id)
    LEFT JOIN trace.string AS name ON name.text_id = kernel.name_id
    WHERE kernel_step.kind = 'communication'
      AND (getvariable('step_id') IS NULL OR kernel_step.step_id = getvariable('step_id'))
),
piece AS (
    SELECT kernel_id, step_id, step_key, from_ns, end_ns
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
    from_ns,
    (greatest(0, end_ns - from_ns) - greatest(0, computing_until_end_ns - computing_ns))::BIGINT AS exposed_ns
FROM at_end
