-- One row is an op that marks a phase of a call of a compiled graph.
--
-- op_id     BIGINT   an op of trace.op
-- role      ENUM('inference', 'run', 'execute', 'region', 'look-up', 'compilation')  what it marks
-- name_id   TEXT_ID  its name
-- tid       BIGINT   host thread: process id * 2^32 + thread id
-- start_ns  BIGINT   start, Unix ns
-- end_ns    BIGINT   end, Unix ns
WITH role_of_name AS (
    SELECT
        text_id,
        CASE
            -- Knows executegraph, npu_fx_compiler, torchnpugraphbase: TorchAir compiles graphs on this hardware alone.
            WHEN regexp_full_match(text, '(npu_fx_compiler|cache_compiler)[ _]inference') THEN 'inference'
            WHEN text = 'TorchNpuGraphBase::Run' THEN 'run'
            WHEN text = 'ExecuteGraph' THEN 'execute'
            WHEN starts_with(text, 'Torch-Compiled Region') THEN 'region'
            WHEN text = 'TorchDynamo Cache Lookup' THEN 'look-up'
            WHEN text IN ('TorchNpuGraphBase::Load', 'TorchNpuGraphBase::Compile', 'TorchNpuGraphBase::AutoTune')
                OR contains(text, '(dynamo_timed)')
                THEN 'compilation'
        END::ENUM('inference', 'run', 'execute', 'region', 'look-up', 'compilation') AS role
    FROM trace.string
)
SELECT op.op_id, role_of_name.role, op.name_id, op.tid, op.start_ns, op.end_ns
FROM trace.op
JOIN role_of_name ON role_of_name.text_id = op.name_id
WHERE role_of_name.role IS NOT NULL
