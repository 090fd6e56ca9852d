-- One row is a call of a compiled graph and the marks of the entry into its module, which come after the call before it.
--
-- @unique inference by start_ns, tid: calls of a thread do not overlap
-- @unique inference by end_ns, tid: calls of a thread do not overlap
--
-- call_id       BIGINT   a call of graph.inference
-- frame_ns      BIGINT   start of the outermost Python frame of Dynamo, vLLM's or TorchAir's compilation around it, Unix ns;
--                        NULL without stacks
-- region_ns     BIGINT   start of the compiled region around it, Unix ns; NULL without one
-- region_id     TEXT_ID  name of that region, such as Torch-Compiled Region: 0/0; NULL without one
-- lookup_ns     BIGINT   start of Dynamo's last look-up of its cache before it, Unix ns; NULL without one
-- lookup_end_ns BIGINT   end of that look-up, or the start of the call if it is still going on; NULL without one
-- is_compiling  BOOLEAN  whether something is compiled after the call before it and before its own end
WITH entering_name AS (
    SELECT text_id
    FROM trace.string
    WHERE regexp_matches(
        text,
        '^nn\.Module: OptimizedModule|_dynamo[/\\]eval_frame\.py|vllm(_ascend)?[/\\]compilation[/\\]'
        -- Knows torchair: TorchAir compiles graphs on this hardware alone.
        || '|torchair[/\\].*_?cache_compiler\.py'
    )
),
mark AS (
    SELECT 'frame' AS role, name_id, tid, start_ns, end_ns
    FROM trace.frame
    JOIN entering_name ON entering_name.text_id = frame.name_id
    UNION ALL
    SELECT role::VARCHAR AS role, name_id, tid, start_ns, end_ns
    FROM graph.event
    WHERE role IN ('region', 'look-up')
),
-- The first call after the start of the mark.
before_call AS (
    SELECT
        mark.role,
        mark.name_id,
        mark.start_ns,
        mark.end_ns,
        call.call_id,
        call.start_ns AS call_ns,
        call.end_ns AS call_end_ns
    FROM mark
    ASOF JOIN graph.inference AS call ON call.tid = mark.tid AND mark.start_ns <= call.start_ns
    WHERE mark.start_ns >= coalesce(call.previous_end_ns, mark.start_ns)
        AND (mark.role = 'look-up' OR mark.end_ns >= call.end_ns)
),
-- A compilation counts for the call in which it lies, else for the next one.
compiling_call AS (
    SELECT DISTINCT call.call_id
    FROM graph.event AS compilation
    ASOF JOIN graph.inference AS call ON call.tid = compilation.tid AND compilation.start_ns <= call.end_ns
    WHERE compilation.role = 'compilation'
),
entered_call AS (
    SELECT
        call_id,
        min(start_ns) FILTER (role = 'frame') AS frame_ns,
        min(start_ns) FILTER (role = 'region') AS region_ns,
        arg_min(name_id, (start_ns, -end_ns)) FILTER (role = 'region') AS region_id,
        max(start_ns) FILTER (role = 'look-up') AS lookup_ns,
        least(arg_max(end_ns, start_ns) FILTER (role = 'look-up'), min(call_ns)) AS lookup_end_ns
    FROM before_call
    GROUP BY call_id
)
SELECT
    call.call_id,
    entered_call.frame_ns,
    entered_call.region_ns,
    entered_call.region_id,
    entered_call.lookup_ns,
    entered_call.lookup_end_ns,
    compiling_call.call_id IS NOT NULL AS is_compiling
FROM graph.inference AS call
LEFT JOIN entered_call USING (call_id)
LEFT JOIN compiling_call USING (call_id)
