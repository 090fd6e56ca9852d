-- One row is a step in which graphs are compiled, in the order of the steps.
--
-- @unique gap by start_ns: gaps do not overlap
--
-- step_id            BIGINT  profiler step in which the compilation begins; NULL outside steps
-- compilation_count  BIGINT  compilations; those inside another one are a part of it
-- host_ns            BIGINT  time on the host in which something is compiled, ns
-- idle_ns            BIGINT  idle time of the device between kernels during that, ns
WITH mark AS (
    SELECT tid, start_ns, end_ns
    FROM graph.event
    WHERE role = 'compilation'
    UNION ALL
    SELECT range.tid, range.start_ns, range.end_ns
    FROM trace.range
    JOIN trace.string AS name ON name.text_id = range.recorded_name_id
    WHERE contains(name.text, '(dynamo_timed)')
),
outermost_mark AS (
    FROM reached_before(mark, tid)
    WHERE coalesce(start_ns >= reached_ns, true)
),
-- Several threads may compile at once.
stretch AS (
    SELECT row_number() OVER (ORDER BY start_ns) AS stretch, span_count AS compilation_count, start_ns, end_ns
    FROM stretches(outermost_mark)
),
gap AS (
    SELECT
        start_ns - clock.offset_ns AS start_ns,
        end_ns - clock.offset_ns AS end_ns,
        sum(end_ns - start_ns) OVER (ORDER BY start_ns ROWS UNBOUNDED PRECEDING) AS up_to_ns
    FROM free.gap
    -- All pairs: the offset of the clock is one row.
    CROSS JOIN clock.offset AS clock
),
-- The idle time before a moment.
moment AS (
    SELECT stretch, 1 AS sign, end_ns AS at_ns
    FROM stretch
    UNION ALL
    SELECT stretch, -1, start_ns
    FROM stretch
),
idle AS (
    SELECT moment.stretch, sum(moment.sign * covered_until(gap.up_to_ns, gap.end_ns, moment.at_ns))::BIGINT AS idle_ns
    FROM moment
    ASOF JOIN gap ON gap.start_ns <= moment.at_ns
    GROUP BY moment.stretch
),
in_step AS (
    SELECT stretch.*, if(stretch.start_ns < period.end_ns, period.step_id, NULL) AS step_id
    FROM stretch
    ASOF LEFT JOIN step.period ON stretch.start_ns >= period.start_ns
)
SELECT
    in_step.step_id,
    sum(in_step.compilation_count)::BIGINT AS compilation_count,
    sum(in_step.end_ns - in_step.start_ns)::BIGINT AS host_ns,
    coalesce(sum(idle.idle_ns), 0)::BIGINT AS idle_ns
FROM in_step
LEFT JOIN idle USING (stretch)
WHERE getvariable('step_id') IS NULL OR in_step.step_id = getvariable('step_id')
GROUP BY in_step.step_id
ORDER BY in_step.step_id
