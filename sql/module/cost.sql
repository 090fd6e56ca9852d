-- One row is a module path, an op directly in it and a type of kernels that the op launched, with the time of these kernels.
--
-- path_id         BIGINT   the path of module.path
-- parent_module   VARCHAR  names of the enclosing modules joined by '/'; '' for an outermost module
-- module          VARCHAR  class name of the module, with [Backward] before it in the backward
-- op_name         VARCHAR  the op; NULL when the profile lost its name
-- kind            ENUM('compute', 'communication', 'copy', 'schedule')  kind of the kernels
-- type            VARCHAR  operator type of the kernels, such as MatMulV3; NULL when it is not known
-- kernel_count    BIGINT   kernels
-- duration_ns     BIGINT   their time, ns
WITH kernel_group AS (
    SELECT path_id, op_name_id, kind, type_id, count(*) AS kernel_count, sum(duration_ns)::BIGINT AS duration_ns
    FROM module.kernel
    WHERE path_id IS NOT NULL
    GROUP BY path_id, op_name_id, kind, type_id
)
SELECT
    path_id,
    path.parent_module,
    path.module,
    op_name.text AS op_name,
    kind,
    type.text AS type,
    kernel_count,
    duration_ns
FROM kernel_group
JOIN module.path USING (path_id)
LEFT JOIN trace.string AS op_name ON op_name.text_id = op_name_id
LEFT JOIN trace.string AS type ON type.text_id = type_id
