-- One row is a module and what kernels do in it that only convert or copy what others have made. The casts of a norm are left
-- to unfused_chain where one fused op wins as much.
--
-- @title (role = format conversion) Tensors are converted between formats
-- @title (role = conversion and back) Data types are converted there and back
-- @title Tensors are copied, or arranged anew
-- @evidence (role = format conversion) {count|1 kernel|kernels} that convert formats, for {time_ns}[:
--     {names}]{unless_critical(time_ns, win_ns)}
-- @evidence (role = conversion and back) {count|1 kernel|kernels} that convert a data type to another one or back, for
--     {time_ns}[: {names}]{unless_critical(time_ns, win_ns)}
-- @evidence {count|1 kernel|kernels} that copy or transpose, for {time_ns}[: {names}]{unless_critical(time_ns, win_ns)}
-- @kind upper bound
-- @remedy (role = format conversion) <<Keep tensors in ND (torch.npu.config.allow_internal_format = False), or convert
--     weights once with torch_npu.npu_format_cast; in a matmul align and split the inner axes||Keep tensors in
--     memory_format=torch.channels_last>>.
-- @remedy (role = conversion and back) Keep the module in one data type, or use a fused op that converts inside, such as
--     <<torch_npu.npu_rms_norm||torch.nn.functional.rms_norm>>; torch.compile fuses casts too.
-- @remedy Remove contiguous(), clone() and transposes, or choose the layout that the next op takes, such as input_layout of
--     attention; under DDP set gradient_as_bucket_view=True.
-- @query (role = format conversion) SELECT duration_ns, kernel_count, type, module, rank_id FROM kernels.work WHERE role =
--     'format conversion' ORDER BY duration_ns DESC LIMIT 50
-- @query (role = conversion and back) SELECT duration_ns, kernel_count, type, module, rank_id FROM kernels.work WHERE role =
--     'conversion and back' ORDER BY duration_ns DESC LIMIT 50
-- @query SELECT duration_ns, kernel_count, type, module, rank_id FROM kernels.work WHERE role = 'copy' ORDER BY duration_ns
--     DESC LIMIT 50
-- @counts kernels
-- @requires compute
-- @yields (is_back) unfused_chain (is_norm)
--
-- @columns profile to rank_id, module, count to win_ns as in advice.finding_of_rank
-- role     VARCHAR  what they do, as in kernels.work: format conversion, conversion and back, or copy
-- names    VARCHAR  types of the kernels, those with most time first; NULL when not known
-- is_back  BOOLEAN  whether they convert there and back
--
-- Kernels that only convert or move data, by module: conversions between formats (TransData; on GPUs nchwToNhwc,
-- batched_transpose), data types converted there and back (two casts of one shape in one module, A to B and B to A; each cast
-- is in at most one pair), and copies and transposes (TensorMove, Transpose, kernels that make a tensor contiguous, copies
-- within the device). `kernels.role` lists the names. The win is all of their critical time: an upper bound, since the kernels
-- around them may become slower in the other format. Casts that are not undone are not reported. Where modules are recorded,
-- casts outside them are not reported either: optimizers convert weights and gradients. If [unfused-chain](#unfused-chain)
-- already reports a norm with an equal win, its casts are not reported again.
WITH by_type AS (
    SELECT
        profile,
        rank_id,
        module,
        role,
        type,
        sum(kernel_count) AS kernel_count,
        sum(duration_ns) AS duration_ns,
        sum(critical_ns) AS critical_ns
    FROM kernels.work
    WHERE role IN ('format conversion', 'conversion and back', 'copy')
    GROUP BY ALL
),
finding AS (
    SELECT
        profile,
        rank_id,
        module,
        role,
        list(type ORDER BY duration_ns DESC, type) FILTER (type IS NOT NULL) AS types,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns
    FROM by_type
    GROUP BY profile, rank_id, module, role
)
SELECT
    profile,
    rank_id,
    module,
    kernel_count AS count,
    duration_ns AS time_ns,
    critical_ns AS win_ns,
    role,
    shown_names(types) AS names,
    role = 'conversion and back' AS is_back
FROM finding
