-- Rows of ModuleStatistic that do not agree for a reason in docs/differences.md.
WITH hook AS (
    SELECT rank_id, op_name, list(name) AS names
    FROM verify.outside_kernel
    WHERE reason = 'gradient hooks'
    GROUP BY rank_id, op_name
)
SELECT
    difference.difference_id,
    CASE
        WHEN hook.op_name IS NOT NULL THEN 'Gradient hooks'
        WHEN relinked_op.op_name IS NOT NULL THEN 'An op that launches again after an op inside it'
        ELSE 'Modules nested more than 20 deep'
    END AS known
FROM difference
LEFT JOIN hook
    ON hook.rank_id = difference.rank_id::INTEGER AND hook.op_name = difference.op_name
    AND difference.side = 'there' AND starts_with(difference.module, '[Backward]')
    AND list_has_all(hook.names, string_split(difference.kernel_list, ', '))
LEFT JOIN verify.relinked_op
    ON relinked_op.rank_id = difference.rank_id::INTEGER AND relinked_op.parent_module = difference.parent_module
    AND relinked_op.module = difference.module AND relinked_op.op_name = difference.op_name
WHERE
    hook.op_name IS NOT NULL
    OR relinked_op.op_name IS NOT NULL
    OR (difference.side = 'here' AND len(string_split(difference.parent_module, '/')) >= 20)
