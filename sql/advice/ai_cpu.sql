-- One row is a module, op and type of kernels that ran on CPUs of the device instead of its cores.
-- Requires compute.
--
-- profile to sql as in advice.finding_of_rank
WITH found AS (
    SELECT
        profile,
        rank_id,
        module,
        op_name AS op,
        type AS kernel_type,
        string_agg(DISTINCT input_types, ' or ' ORDER BY input_types) AS input_types,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns
    FROM kernels.work
    WHERE engine::VARCHAR = 'cpu' AND kind::VARCHAR = 'compute'
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    'Kernels run on CPUs of the device' AS title,
    module,
    op,
    kernel_type,
    format(
        '{} on CPUs of the device (AI CPU), for {}{}{}',
        shown_kernels(kernel_count),
        shown_time(duration_ns),
        if(input_types IS NULL, '', ', with inputs of ' || left(input_types, 60)),
        unless_critical(duration_ns, critical_ns)
    ) AS evidence,
    kernel_count AS count,
    duration_ns AS time_ns,
    critical_ns AS win_ns,
    'upper bound' AS kind,
    'Give it inputs of a type for which the cores have a kernel, such as FLOAT, FLOAT16, BF16 or INT32 instead of DOUBLE, '
    || 'INT64 or COMPLEX; or write it with other ops, or move it to the host.' AS what_to_do,
    'docs/rules.md#ai-cpu' AS doc,
    'SELECT duration_ns, kernel_count, type, module, rank_id FROM kernels.work WHERE engine = ''cpu'' '
    || 'ORDER BY duration_ns DESC LIMIT 50' AS sql
FROM found
