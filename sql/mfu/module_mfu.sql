-- One row is an op at its position in a module, in the columns of ModuleMFU of msprof-analyze 26; the rows are those of
-- module.statistic, backward included.
--
-- parent_module             VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module                    VARCHAR  class name of the module, as in module.statistic
-- op_name                   VARCHAR  the op that launched the kernels; NULL when the profile lost its name
-- kernel_list               VARCHAR  names of the kernels it launched, joined by ', '
-- total_kernel_duration_ns  BIGINT   sum over all calls, ns
-- avg_kernel_duration_ns    DOUBLE   mean per call, ns
-- op_count                  BIGINT   calls
-- avg_mfu                   VARCHAR  mean mfu of each kernel over the calls, such as 0.14%,1.42%; kernels without one are
--                                    skipped; '' where none has one
SELECT
    path.parent_module,
    path.module || statistic_row.suffix AS module,
    op_name.text AS op_name,
    kernel_list.kernel_list,
    statistic_row.duration_ns AS total_kernel_duration_ns,
    statistic_row.duration_ns / statistic_row.op_count AS avg_kernel_duration_ns,
    statistic_row.op_count,
    coalesce(statistic_row.avg_mfu, '') AS avg_mfu
FROM module.statistic_row
JOIN module.path USING (path_id)
JOIN module.kernel_list USING (position)
LEFT JOIN trace.string AS op_name ON op_name.text_id = statistic_row.name_id
ORDER BY statistic_row.position
