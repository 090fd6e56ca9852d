-- One row is the rank as a stage of the pipeline, with the means of its steps. Without passes there is none.
--
-- pipeline_stage     BIGINT   pipeline stage; NULL when not recorded
-- stage_count        BIGINT   stages of the pipeline; NULL when not recorded
-- step_count         BIGINT   steps with passes; 1 where there are none
-- origin             VARCHAR  what marks the passes: range, function (of the schedule, in Python stacks), or module
-- micro_batch_count  DOUBLE   micro-batches of a step
-- forward_ns         DOUBLE   mean time of a forward pass on the device, ns; NULL without any
-- backward_ns        DOUBLE   mean time of a backward pass on the device, ns; NULL without any
-- span_ns            DOUBLE   passes and bubble of a step, ns; NULL when no pass ran on the device
-- pass_ns            DOUBLE   time of a step in which a pass ran, ns; NULL when no pass ran on the device
-- bubble_ns          DOUBLE   the rest, ns; NULL when no pass ran on the device
-- p2p_ns             DOUBLE   the part of bubble_ns with a send or receive, ns; NULL when no pass ran on the device
-- idle_ns            DOUBLE   the rest of bubble_ns, ns; NULL when no pass ran on the device
-- bubble_share       DOUBLE   bubble / span, over all steps; NULL when no pass ran on the device
-- least_share        DOUBLE   the part that bubbles take where all stages take as long for a pass, and a rank has one stage
--                             (1F1B, GPipe): (stages - 1) / (micro-batches + stages - 1); NULL when the stages are not known
WITH recorded_size AS (
    SELECT pipeline_size AS stage_count, 1 AS precedence
    FROM trace.parallelism
    WHERE pipeline_size IS NOT NULL
    UNION ALL
    SELECT count(DISTINCT position), 2
    FROM trace.parallel_group
    WHERE label = 'pp'
    HAVING count(*) > 0
),
size AS (
    SELECT arg_min(stage_count, precedence) AS stage_count
    FROM recorded_size
),
origin AS (
    SELECT min(origin) AS origin
    FROM pipeline.pass
)
SELECT
    stage.pipeline_stage,
    size.stage_count,
    count(*) AS step_count,
    origin.origin,
    sum(micro_batch_count) / count(*) AS micro_batch_count,
    sum(forward_ns * forward_count) / nullif(sum(forward_count) FILTER (forward_ns IS NOT NULL), 0) AS forward_ns,
    sum(backward_ns * backward_count) / nullif(sum(backward_count) FILTER (backward_ns IS NOT NULL), 0) AS backward_ns,
    sum(span_ns) / count(span_ns) AS span_ns,
    sum(pass_ns) / count(pass_ns) AS pass_ns,
    sum(bubble_ns) / count(bubble_ns) AS bubble_ns,
    sum(p2p_ns) / count(p2p_ns) AS p2p_ns,
    sum(idle_ns) / count(idle_ns) AS idle_ns,
    sum(bubble_ns) / nullif(sum(span_ns), 0) AS bubble_share,
    (size.stage_count - 1) / nullif(sum(micro_batch_count) / count(*) + size.stage_count - 1, 0) AS least_share
FROM pipeline.stage
CROSS JOIN size
CROSS JOIN origin
GROUP BY stage.pipeline_stage, size.stage_count, origin.origin
