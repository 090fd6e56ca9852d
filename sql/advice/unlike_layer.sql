-- One row is a layer, or another module among equal siblings, that takes longer than the others though it runs the same
-- kernels. Where no modules are recorded, it is a layer among those that layer.sibling finds in the kernels.
--
-- @title A layer takes longer than equal ones
-- @evidence its kernels take {median_ns}{count?| in the median of its calls}, {excess_share} more than is usual for
--     {sibling_count} with the same kernels ({usual_ns})[; most of it is in {slower}: {slower_ns} more in {count|one
--     call|calls}]{has_shapes?|; shapes are not compared, so its inputs may be larger}{wins_nothing?; 0 can be won: the device
--     waits for the host after its kernels|}
-- @kind (may_be_chance) hint
-- @kind upper bound
-- @remedy {may_be_chance?Record several passes and see whether it is this layer again: one call may be chance. |}Compare it
--     with a layer beside it (prof-analysis module-stats --instances): look for inputs that are not contiguous or have
--     another memory format, for communication or copies beside it, and for a lower clock then.
-- @query (is_in_kernels) SELECT median_ns, usual_ns, layer, slower_ns, slower_type FROM layer.sibling WHERE median_ns >
--     usual_ns ORDER BY total_ns - pass_count * usual_ns DESC LIMIT 20
-- @query SELECT median_ns, usual_ns, module, number, slower_type FROM module.sibling WHERE median_ns > usual_ns ORDER BY
--     total_ns - call_count * usual_ns DESC LIMIT 20
-- @counts kernels
-- @requires compute
-- @threshold least_deviations 3: The same in standard deviations of the siblings, by their median deviation
-- @threshold least_excess_share 0.1: How much longer than its siblings a layer takes at least
-- @threshold least_sibling_count 4: Layers with the same kernels, at least
-- @threshold most_unlike_share 0.25: Share of them that may take about as much longer; if more do, they are of another kind
--
-- @columns profile to rank_id, module, count to win_ns as in advice.finding_of_rank
-- median_ns      BIGINT   the median time of its kernels in a call, ns
-- excess_share   DOUBLE   (median_ns - usual_ns) / usual_ns
-- sibling_count  BIGINT   siblings with the same kernels
-- usual_ns       BIGINT   the median of these, ns
-- slower         VARCHAR  the op and type of the kernel that has most of it
-- slower_ns      BIGINT   how much longer that takes in all calls, ns; NULL when not known
-- has_shapes     BOOLEAN  whether shapes are recorded, so that its inputs are as large
-- wins_nothing   BOOLEAN  whether the device waits for the host after its kernels
-- may_be_chance  BOOLEAN  whether it is one call without shapes
-- is_in_kernels  BOOLEAN  whether it is a layer that is found in the kernels, without modules
--
-- A layer, or another module among equal siblings, takes at least 10 % longer than the median of its siblings in the median of
-- its calls, and at least 3 standard deviations of them (by their median deviation). Siblings are modules of one class in one
-- call of the module around them whose compute kernels, forward and backward, have the same ops, types and (where recorded)
-- shapes: a dense layer is not compared with layers of experts, nor one that gets other shapes. The rule needs at least 4
-- siblings. If more than a quarter of them take about as much longer (half of it or more), they are another kind, such as
-- layers with a global attention, and are not reported. Without modules the rule compares the layers of `layer-stats`. The
-- evidence says if shapes are not compared. The win is an upper bound: the time beyond the median, but at most that of the
-- critical kernels; 0 if the device waits for the host. A single call without compared shapes may be chance, so it is a hint.
-- Modules that run again in a backward are not compared. Tables: module.sibling, layer.sibling.
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
    FROM layer.sibling_without_modules
),
sibling AS (
    FROM of_module
    UNION ALL
    FROM of_layer
),
compared_layer AS (
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
        arg_max(sibling_count, (total_ns, kind)) AS sibling_count,
        sum(call_count)::BIGINT AS call_count,
        sum(greatest(total_ns - call_count * usual_ns, 0))::BIGINT AS excess_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        arg_max(median_ns, (total_ns, kind)) AS median_ns,
        arg_max(usual_ns, (total_ns, kind)) AS usual_ns,
        arg_max(slower_op, (slower_ns, kind)) FILTER (slower_ns IS NOT NULL) AS slower_op,
        arg_max(slower_type, (slower_ns, kind)) FILTER (slower_ns IS NOT NULL) AS slower_type,
        max(slower_ns) AS slower_ns,
        bool_and(has_shapes) AS has_shapes,
        -- Neither another call nor the sizes of its inputs tell it from chance.
        sum(call_count) = 1 AND NOT bool_and(has_shapes) AS may_be_chance
    FROM compared_layer
    CROSS JOIN threshold
    WHERE sibling_count >= least_sibling_count
        AND median_ns - usual_ns >= usual_ns * least_excess_share
        AND median_ns - usual_ns >= least_deviations * 1.4826 * deviation_ns
        AND as_long_count <= most_unlike_share * sibling_count
    GROUP BY profile, rank_id, path
)
SELECT
    profile,
    rank_id,
    path AS module,
    call_count AS count,
    excess_ns AS time_ns,
    if(may_be_chance, NULL, least(excess_ns, critical_ns)) AS win_ns,
    median_ns,
    (median_ns - usual_ns) / usual_ns AS excess_share,
    sibling_count,
    usual_ns,
    coalesce(nullif(concat_ws(', ', slower_op, slower_type), ''), 'one kernel') AS slower,
    slower_ns,
    has_shapes,
    critical_ns = 0 AS wins_nothing,
    may_be_chance,
    starts_with(path, 'layer ') AS is_in_kernels
FROM unlike
