-- One row is a stretch of pass.turn and where its time went on the device, whichever kernels ran in it. The times of computing,
-- communication alone, copying alone and idle time add up to the stretch.
--
-- @guard pass.kernel
--
-- @columns pass_id to end_ns as in pass.turn
-- duration_ns                      BIGINT  end - start
-- computing_ns                     BIGINT  time with a compute kernel, ns
-- communication_ns                 BIGINT  time with a communication operator, ns
-- communication_not_overlapped_ns  BIGINT  time with a communication operator and no compute kernel, ns
-- copying_not_overlapped_ns        BIGINT  time with a copy and neither of the two, ns; 0 where copies are no kernels
-- idle_ns                          BIGINT  the rest, ns
WITH part AS (
    SELECT
        (turn.start_ns, turn.end_ns) AS turn_key,
        kernel.kind,
        greatest(kernel.start_ns, turn.start_ns) AS start_ns,
        least(kernel.end_ns, turn.end_ns) AS end_ns
    FROM step.kernel_step AS kernel
    JOIN pass.turn ON kernel.start_ns < turn.end_ns AND kernel.end_ns > turn.start_ns
    WHERE getvariable('step_id') IS NULL OR kernel.step_id = getvariable('step_id')
),
of_kind AS (
    SELECT turn_key, 'any' AS what, start_ns, end_ns
    FROM part
    UNION ALL
    SELECT turn_key, 'compute or communication', start_ns, end_ns
    FROM part
    WHERE kind <> 'copy'
    UNION ALL
    SELECT turn_key, kind::VARCHAR, start_ns, end_ns
    FROM part
    WHERE kind <> 'copy'
),
added_time AS (
    SELECT turn_key, what, sum(added_ns)::BIGINT AS added_ns
    FROM added(of_kind, (turn_key, what))
    GROUP BY turn_key, what
),
covered AS (
    SELECT
        turn_key,
        coalesce(sum(added_ns) FILTER (what = 'any'), 0)::BIGINT AS any_ns,
        coalesce(sum(added_ns) FILTER (what = 'compute or communication'), 0)::BIGINT AS busy_ns,
        coalesce(sum(added_ns) FILTER (what = 'compute'), 0)::BIGINT AS computing_ns,
        coalesce(sum(added_ns) FILTER (what = 'communication'), 0)::BIGINT AS communication_ns
    FROM added_time
    GROUP BY turn_key
)
SELECT
    turn.pass_id,
    turn.next_id,
    turn.start_ns,
    turn.end_ns,
    turn.end_ns - turn.start_ns AS duration_ns,
    coalesce(computing_ns, 0) AS computing_ns,
    coalesce(communication_ns, 0) AS communication_ns,
    coalesce(busy_ns - computing_ns, 0) AS communication_not_overlapped_ns,
    coalesce(any_ns - busy_ns, 0) AS copying_not_overlapped_ns,
    turn.end_ns - turn.start_ns - coalesce(any_ns, 0) AS idle_ns
FROM pass.turn
LEFT JOIN covered ON covered.turn_key = (turn.start_ns, turn.end_ns)
ORDER BY turn.start_ns, turn.end_ns
