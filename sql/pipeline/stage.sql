-- One row is a step of the rank, as a stage of the pipeline: its passes, and the bubbles between them. It lasts from the first
-- start to the last end of its passes, and of the sends and receives between stages; optimizer and gradients come after it.
--
-- pipeline_stage     BIGINT  pipeline stage of the rank; NULL when not recorded
-- step_id            BIGINT  step; NULL for passes outside steps and without steps
-- micro_batch_count  BIGINT  micro-batches: forward passes, or passes of both
-- forward_count      BIGINT  forward passes
-- backward_count     BIGINT  backward passes
-- forward_ns         BIGINT  mean time of a forward pass on the device, ns; NULL without any
-- backward_ns        BIGINT  mean time of a backward pass on the device, ns; NULL without any
-- span_ns            BIGINT  from the first start to the last end, ns: passes and bubble; NULL when no pass ran on the device
-- pass_ns            BIGINT  time in which a pass ran, ns; NULL when no pass ran on the device
-- bubble_ns          BIGINT  the rest: p2p and idle, ns; NULL when no pass ran on the device
-- p2p_ns             BIGINT  the part of bubble_ns with a send or receive, which includes waiting for the other stage, ns; NULL
--                            when no pass ran on the device
-- idle_ns            BIGINT  the rest of bubble_ns, ns; NULL when no pass ran on the device
-- bubble_share       DOUBLE  bubble_ns / span_ns; NULL when no pass ran on the device
WITH pass AS (
    FROM pipeline.pass
    WHERE end_ns >= start_ns
),
period AS (
    SELECT start_ns, min(step_id) AS step_id
    FROM (SELECT step_id, min(start_ns) AS start_ns FROM pass GROUP BY step_id)
    GROUP BY start_ns
),
-- A receive that waits for the first pass begins before it, and belongs to the step of the kernel, where this is known.
p2p AS (
    SELECT p2p.kernel_id, p2p.start_ns, p2p.start_ns + p2p.elapse_ns AS end_ns, kernel_step.step_id
    FROM (
        SELECT kernel_id, start_ns, max(elapse_ns) AS elapse_ns
        FROM communication.p2p
        GROUP BY kernel_id, start_ns
    ) AS p2p
    LEFT JOIN kernels.step AS kernel_step USING (kernel_id)
),
p2p_of_step AS (
    SELECT p2p.start_ns, p2p.end_ns, if(p2p.step_id IS NULL, period.step_id, p2p.step_id) AS step_id
    FROM p2p
    ASOF LEFT JOIN period ON period.start_ns <= p2p.end_ns
),
pass_or_p2p AS (
    SELECT step_id, start_ns, end_ns, true AS is_pass
    FROM pass
    UNION ALL
    SELECT step_id, start_ns, end_ns, false
    FROM p2p_of_step AS p2p
    WHERE EXISTS (FROM pass WHERE pass.step_id IS NOT DISTINCT FROM p2p.step_id)
),
-- Both unions in one window: added() for each takes a fifth more time for the whole table.
added_time AS (
    SELECT
        *,
        greatest(end_ns - greatest(start_ns, coalesce(max(end_ns) OVER any_earlier, start_ns)), 0) AS busy_ns,
        if(
            is_pass,
            greatest(end_ns - greatest(start_ns, coalesce(max(end_ns) FILTER (is_pass) OVER any_earlier, start_ns)), 0),
            0
        ) AS pass_ns
    FROM pass_or_p2p
    WINDOW any_earlier AS (
        PARTITION BY step_id ORDER BY start_ns, end_ns, is_pass ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),
busy AS (
    SELECT
        step_id,
        max(end_ns) - min(start_ns) AS span_ns,
        sum(pass_ns)::BIGINT AS pass_ns,
        sum(busy_ns)::BIGINT AS busy_ns
    FROM added_time
    GROUP BY step_id
),
stage_of_step AS (
    SELECT
        step_id,
        min(pipeline_stage) AS pipeline_stage,
        count(*) FILTER (kind IN ('forward', 'both')) AS micro_batch_count,
        count(*) FILTER (kind = 'forward') AS forward_count,
        count(*) FILTER (kind = 'backward') AS backward_count,
        round(avg(duration_ns) FILTER (kind = 'forward'))::BIGINT AS forward_ns,
        round(avg(duration_ns) FILTER (kind = 'backward'))::BIGINT AS backward_ns
    FROM pipeline.pass
    GROUP BY step_id
)
SELECT
    stage.pipeline_stage,
    stage.step_id,
    stage.micro_batch_count,
    stage.forward_count,
    stage.backward_count,
    stage.forward_ns,
    stage.backward_ns,
    busy.span_ns,
    busy.pass_ns,
    busy.span_ns - busy.pass_ns AS bubble_ns,
    busy.busy_ns - busy.pass_ns AS p2p_ns,
    busy.span_ns - busy.busy_ns AS idle_ns,
    (busy.span_ns - busy.pass_ns) / nullif(busy.span_ns, 0) AS bubble_share
FROM stage_of_step AS stage
LEFT JOIN busy ON busy.step_id IS NOT DISTINCT FROM stage.step_id
ORDER BY stage.step_id
