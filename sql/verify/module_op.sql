-- One row is an op in a module as `module-stats` has it, in the columns of ModuleStatistic of msprof-analyze.
--
-- @beside ModuleStatistic of module_statistic by rank_id, parent_module, module, op_name, kernel_list
--
-- rank_id                   INTEGER  rank; -1 when the files name none
-- parent_module             VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module                    VARCHAR  class name of the module, with [Backward] before it in the backward
-- op_name                   VARCHAR  the op that launched the kernels; NULL when its name is not known
-- kernel_list               VARCHAR  names of the kernels it launched, joined by ', '
-- total_kernel_duration_ns  BIGINT   sum over all calls, ns
-- avg_kernel_duration_ns    DOUBLE   mean per call, ns
-- op_count                  BIGINT   calls
SELECT
    coalesce(rank_id, -1) AS rank_id,
    parent_module,
    module,
    op_name,
    kernel_list,
    total_kernel_duration_ns,
    avg_kernel_duration_ns,
    op_count
FROM module.statistic
