-- One row is a module path, an op directly in it and a type of kernels that the op launched, over all ranks, the longest time
-- first.
--
-- parent_module  VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module         VARCHAR  class name of the module, with [Backward] before it in the backward
-- op_name        VARCHAR  the op; NULL when the profile lost its name
-- kind           VARCHAR  kind of the kernels: compute, communication, copy or schedule
-- type           VARCHAR  operator type of the kernels, such as MatMulV3; NULL when it is not known
-- kernel_count   BIGINT   kernels
-- duration_ns    BIGINT   their time, ns
-- share          DOUBLE   part of the time of all kernels of this kind, of all ranks; NULL when that is 0
WITH of_kind AS (
    SELECT kind::VARCHAR AS kind, sum(kernel_duration_ns) AS duration_ns
    FROM module.coverage
    GROUP BY ALL
),
summed_cost AS (
    SELECT
        parent_module,
        module,
        op_name,
        kind::VARCHAR AS kind,
        type,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns
    FROM module.cost
    GROUP BY ALL
)
SELECT
    parent_module,
    module,
    op_name,
    kind,
    type,
    kernel_count,
    summed_cost.duration_ns,
    summed_cost.duration_ns / nullif(of_kind.duration_ns, 0) AS share
FROM summed_cost
JOIN of_kind USING (kind)
ORDER BY summed_cost.duration_ns DESC, parent_module, module, op_name, kind, type
