-- One row is an op at its position in a module, merged over all calls of the module's path that run the same sequence of ops,
-- in all layers, steps and micro-batches. The columns, the merging, the order and the suffixes are those of msprof-analyze.
--
-- @sum total_kernel_duration_ns
--
-- parent_module             VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module                    VARCHAR  class name of the module, with [Backward] before it in the backward; consecutive rows of
--                                    one module whose calls run different ops end in _0, _1, ...
-- op_name                   VARCHAR  the op that launched the kernels, or the call on the host where it lies in no op; NULL
--                                    when its name is not known
-- kernel_list               VARCHAR  names of the kernels it launched, joined by ', ': compute, then communication (by type),
--                                    then schedule, each by start
-- total_kernel_duration_ns  BIGINT   sum over all calls, ns
-- avg_kernel_duration_ns    DOUBLE   mean per call, ns
-- op_count                  BIGINT   calls
-- avg_mfu                   VARCHAR  MFU as msprof-analyze 8.3 defines it, such as 45.2%,46.0%: the mean over the calls, for
--                                    each kernel of MatMulV2, MatMulV3 and FlashAttentionScore, by the peak of FP16 for all
--                                    floats; NULL where no kernel has one. mfu.module has the model FLOPs utilisation
-- op_chain                  VARCHAR  the framework ops around the launching op, outermost first, and the op itself, joined by
--                                    ' > '; from the first of the merged calls; NULL in replayed graphs, and outside any op
SELECT
    path.parent_module,
    path.module || statistic_row.suffix AS module,
    op_name.text AS op_name,
    kernel_list.kernel_list,
    statistic_row.duration_ns AS total_kernel_duration_ns,
    statistic_row.duration_ns / statistic_row.op_count AS avg_kernel_duration_ns,
    statistic_row.op_count,
    statistic_row.peer_avg_mfu AS avg_mfu,
    op_chain.op_chain
FROM module.statistic_row
JOIN module.path USING (path_id)
JOIN module.kernel_list USING (position)
LEFT JOIN trace.string AS op_name ON op_name.text_id = statistic_row.name_id
LEFT JOIN module.op_chain ON op_chain.op_id = statistic_row.first_op_id
ORDER BY statistic_row.position
