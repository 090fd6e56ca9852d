-- One row is a kernel of a pass. With a step chosen, only kernels of that step count.
--
-- @unique begin by start_ns: passes that are found in kernels begin one after the other
--
-- kernel_id  BIGINT   a kernel of trace.kernel, but for helpers that schedule communication
-- pass_id    BIGINT   the pass, counted from 1 in the order in which they begin, on the host where annotations mark them
-- marked_id  BIGINT   the pass of pass.marked; NULL where annotations mark none
-- found_by   VARCHAR  what shows the passes of the rank: annotation, tokens, layers or gaps, as in pass.instance
-- is_draft   BOOLEAN  whether the layers are those of a draft model; NULL where layers do not show passes
WITH used_kernel AS (
    SELECT kernel_id, start_ns
    FROM step.kernel_step
    WHERE getvariable('step_id') IS NULL OR step_id = getvariable('step_id')
),
begin AS (
    SELECT start_ns, 'tokens' AS found_by, is_draft
    FROM pass.token_begin
    UNION ALL
    SELECT start_ns, 'layers', is_draft
    FROM pass.layer_begin
    UNION ALL
    SELECT start_ns, 'gaps', NULL
    FROM pass.gap_begin
),
placed AS (
    SELECT kernel_id, marked_id AS key, marked_id, 'annotation' AS found_by, NULL AS is_draft
    FROM used_kernel
    JOIN pass.marked_kernel USING (kernel_id)
    UNION ALL
    SELECT kernel_id, begin.start_ns, NULL, begin.found_by, begin.is_draft
    FROM used_kernel
    ASOF JOIN begin ON used_kernel.start_ns >= begin.start_ns
)
SELECT kernel_id, dense_rank() OVER (ORDER BY key) AS pass_id, marked_id, found_by, is_draft
FROM placed
