-- One row is a layer, or another module among equal siblings, that takes longer than the others though it runs the same
-- kernels. Where no modules are recorded, it is a layer among those that layer.by_index finds in the kernels.
-- Requires compute.
--
-- profile to sql as in advice.finding_of_rank
--
-- Siblings of which many differ are of several kinds that run the same kernels, such as layers with a local and a global
-- attention; none of these is unlike the others.
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
        slower_ns
    FROM module.sibling
),
layer AS (
    SELECT
        *,
        count(*) OVER of_kind AS sibling_count,
        quantile_disc(median_ns, 0.5) OVER of_kind AS usual_ns
    FROM layer.by_index
    WHERE kind IS NOT NULL AND profile NOT IN (SELECT profile FROM module.sibling)
    WINDOW of_kind AS (PARTITION BY profile, kind)
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
        total_ns AS critical_ns,
        median_ns,
        usual_ns,
        quantile_disc(abs(median_ns - usual_ns), 0.5) OVER (PARTITION BY profile, kind) AS deviation_ns,
        NULL::VARCHAR AS slower_op,
        NULL::VARCHAR AS slower_type,
        NULL::BIGINT AS slower_ns
    FROM layer
),
sibling AS (
    FROM of_module
    UNION ALL
    FROM of_layer
),
compared AS (
    SELECT
        sibling.*,
        median_ns >= usual_ns * (1 + threshold.least_excess_share)
        AND median_ns - usual_ns >= threshold.least_deviations * 1.4826 * deviation_ns AS is_unlike,
        threshold.most_unlike_share
    FROM sibling
    CROSS JOIN threshold
    WHERE sibling.sibling_count >= threshold.least_sibling_count
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
        max(slower_ns) AS slower_ns
    FROM (
        FROM compared
        QUALIFY count(*) FILTER (is_unlike) OVER (PARTITION BY profile, kind) <= most_unlike_share * sibling_count
    )
    WHERE is_unlike
    GROUP BY profile, rank_id, path
)
SELECT
    profile,
    rank_id,
    'A layer takes longer than others with the same kernels' AS title,
    path AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    concat(
        format(
            'its kernels take {} in half of its calls or more, {} more than is usual for {} with the same kernels ({})',
            shown_time(median_ns),
            shown_share((median_ns - usual_ns) / usual_ns),
            sibling_count,
            shown_time(usual_ns)
        ),
        if(
            slower_ns IS NULL,
            '',
            format(
                '; most of it is in {}: {} more in {} calls',
                concat_ws(', ', slower_op, slower_type),
                shown_time(slower_ns),
                call_count
            )
        ),
        if(critical_ns = 0, '; 0 can be won: the device waits for the host after its kernels', '')
    ) AS evidence,
    call_count AS count,
    excess_ns AS time_ns,
    least(excess_ns, critical_ns) AS win_ns,
    'upper bound' AS kind,
    'Compare it with a layer beside it (prof-analysis module-stats --by instance): look for inputs that are not contiguous '
    || 'or have another memory format, for communication or copies beside it, and for a lower clock at that time.' AS what_to_do,
    'docs/advise.md#unlike-layer' AS doc,
    if(
        starts_with(path, 'layer '),
        'FROM layer.by_index WHERE kind IS NOT NULL ORDER BY median_ns DESC',
        'FROM module.sibling WHERE median_ns > usual_ns ORDER BY total_ns - call_count * usual_ns DESC'
    ) AS sql
FROM unlike
