-- One row is a module, op and type of kernels that take far longer than usual because others run beside them.
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
        arg_max(neighbour_type, (duration_ns, neighbour_type)) AS neighbour_type,
        sum(kernel_count)::BIGINT AS kernel_count,
        max(all_count) AS all_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(usual_ns)::BIGINT AS usual_ns,
        sum(neighbour_ns)::BIGINT AS neighbour_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(win_ns)::BIGINT AS win_ns
    FROM critical.contention
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    'Kernels take longer because others run beside them' AS title,
    module,
    op,
    kernel_type,
    format(
        '{} of {} run beside {} and take {} on average, where equal ones elsewhere take {}; the kernels beside them take {}{}',
        kernel_count,
        shown_kernels(all_count),
        left(neighbour_type, 60),
        shown_time(duration_ns / kernel_count),
        shown_time(usual_ns / kernel_count),
        shown_time(neighbour_ns / kernel_count),
        unless_critical(duration_ns, critical_ns)
    ) AS evidence,
    kernel_count AS count,
    duration_ns - usual_ns AS time_ns,
    win_ns,
    'upper bound' AS kind,
    format(
        'Do not make these kernels faster: they wait for cores, or for memory, that {} has. Shorten that one; or start these '
        || 'before it, where their inputs are ready, or give both fewer cores so that they fit beside each other.',
        left(neighbour_type, 60)
    ) AS what_to_do,
    'docs/rules.md#contention' AS doc,
    'SELECT duration_ns, usual_ns, kernel_count, type, neighbour_type FROM critical.contention '
    || 'ORDER BY duration_ns DESC LIMIT 20' AS sql
FROM found
