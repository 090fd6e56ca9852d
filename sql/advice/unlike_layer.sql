-- One row is a layer, or another module among equal siblings, that takes longer than the others though it runs the same
-- kernels. Where no modules are recorded, it is a layer among those that layer.sibling finds in the kernels.
-- Requires compute.
--
-- profile to sql as in advice.finding_of_rank
--
-- If many siblings take about as much longer, at least half of it, they are another kind that runs the same kernels, such as
-- layers with a global attention among those with a local one; then none of them is unlike the others.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_excess_share') AS least_excess_share,
        max(value) FILTER (name = 'least_deviations') AS least_deviations,
        max(value) FILTER (name = 'least_sibling_count') AS least_sibling_count,
        max(value) FILTER (name = 'most_unlike_share') AS most_unlike_share
    FROM advice.threshold
    WHERE rule = 'unlike_layer'
),
of_module AS (
    SELECT
        profile,
        rank_id,
        format('{}[{}]', concat_ws('/', nullif(parent_module, ''), module), number) AS path,
        (parent_module, module, variant)::VARCHAR AS kind,
        sibling_count,
        call_count,
        total_ns,
        critical_ns,
        median_ns,
        usual_ns,
        deviation_ns,
        slower_op,
        slower_type,
        slower_ns,
        has_shapes
    FROM module.sibling
),
of_layer AS (
    SELECT
        profile,
        rank_id,
        format('layer {}', layer) AS path,
        kind::VARCHAR AS kind,
        sibling_count,
        pass_count AS call_count,
        total_ns,
        critical_ns,
        median_ns,
        usual_ns,
        deviation_ns,
        NULL::VARCHAR AS slower_op,
        slower_type,
        slower_ns,
        false AS has_shapes
    FROM layer.sibling
    WHERE profile NOT IN (SELECT profile FROM module.sibling)
),
sibling AS (
    FROM of_module
    UNION ALL
    FROM of_layer
),
compared AS (
    SELECT
        sibling.*,
        count(*) OVER (
            PARTITION BY profile, kind
            ORDER BY median_ns - usual_ns
            RANGE BETWEEN greatest(median_ns - usual_ns, 0) // 2 PRECEDING AND UNBOUNDED FOLLOWING
        ) AS as_long_count
    FROM sibling
),
-- A module that does now this and now that work is one finding.
unlike AS (
    SELECT
        profile,
        rank_id,
        path,
        arg_max(sibling_count, total_ns) AS sibling_count,
        sum(call_count)::BIGINT AS call_count,
        sum(greatest(total_ns - call_count * usual_ns, 0))::BIGINT AS excess_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        arg_max(median_ns, total_ns) AS median_ns,
        arg_max(usual_ns, total_ns) AS usual_ns,
        arg_max(slower_op, slower_ns) AS slower_op,
        arg_max(slower_type, slower_ns) AS slower_type,
        max(slower_ns) AS slower_ns,
        bool_and(has_shapes) AS has_shapes,
        -- Neither another call nor the sizes of its inputs tell it from chance.
        sum(call_count) = 1 AND NOT bool_and(has_shapes) AS may_be_chance
    FROM compared
    CROSS JOIN threshold
    WHERE sibling_count >= least_sibling_count
        AND median_ns >= usual_ns * (1 + least_excess_share)
        AND median_ns - usual_ns >= least_deviations * 1.4826 * deviation_ns
        AND as_long_count <= most_unlike_share * sibling_count
    GROUP BY profile, rank_id, path
)
SELECT
    profile,
    rank_id,
    'A layer takes longer than equal ones' AS title,
    path AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    concat(
        format(
            'its kernels take {}{}, {} more than is usual for {} with the same kernels ({})',
            shown_time(median_ns),
            if(call_count = 1, '', ' in the median of its calls'),
            shown_share((median_ns - usual_ns) / usual_ns),
            sibling_count,
            shown_time(usual_ns)
        ),
        if(
            slower_ns IS NULL,
            '',
            format(
                '; most of it is in {}: {} more in {}',
                coalesce(nullif(concat_ws(', ', slower_op, slower_type), ''), 'one kernel'),
                shown_time(slower_ns),
                if(call_count = 1, 'one call', format('{} calls', call_count))
            )
        ),
        if(has_shapes, '', '; shapes are not compared, so its inputs may be larger'),
        if(critical_ns = 0, '; 0 can be won: the device waits for the host after its kernels', '')
    ) AS evidence,
    call_count AS count,
    excess_ns AS time_ns,
    if(may_be_chance, NULL, least(excess_ns, critical_ns)) AS win_ns,
    if(may_be_chance, 'hint', 'upper bound') AS kind,
    if(may_be_chance, 'Record several passes and see whether it is this layer again: one call may be chance. ', '')
    || 'Compare it with a layer beside it (prof-analysis module-stats --instances): look for inputs that are not contiguous '
    || 'or have another memory format, for communication or copies beside it, and for a lower clock then.' AS what_to_do,
    'docs/rules.md#unlike-layer' AS doc,
    if(
        starts_with(path, 'layer '),
        'SELECT median_ns, usual_ns, layer, slower_ns, slower_type FROM layer.sibling WHERE median_ns > usual_ns '
        || 'ORDER BY total_ns - pass_count * usual_ns DESC LIMIT 20',
        'SELECT median_ns, usual_ns, module, number, slower_type FROM module.sibling WHERE median_ns > usual_ns '
        || 'ORDER BY total_ns - call_count * usual_ns DESC LIMIT 20'
    ) AS sql
FROM unlike
