-- One row is a module, op and type of matmuls that use little of the peak and could be faster.
-- Requires compute, shapes.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'most_efficiency') AS most_efficiency,
        max(value) FILTER (name = 'attainable_efficiency') AS attainable_efficiency,
        max(value) FILTER (name = 'least_win_share') AS least_win_share,
        max(value) FILTER (name = 'few_rows') AS few_rows,
        max(value) FILTER (name = 'aligned_bytes') AS aligned_bytes
    FROM advice.threshold
    WHERE rule = 'slow_matmul'
),
-- What a shape of the same data type reaches on the rank, or what is attainable if none does.
best AS (
    SELECT
        matmul.profile,
        matmul.data_type,
        greatest(max(matmul.efficiency), min(threshold.attainable_efficiency)) AS efficiency
    FROM roofline.matmul
    CROSS JOIN threshold
    GROUP BY matmul.profile, matmul.data_type
),
shape AS (
    SELECT
        matmul.*,
        best.efficiency AS best_efficiency,
        greatest(matmul.efficiency / best.efficiency, coalesce(matmul.memory_ns / matmul.duration_ns, 0)) AS least_share,
        coalesce(matmul.memory_ns * best.efficiency >= matmul.at_peak_ns, false) AS is_memory_bound
    FROM roofline.matmul
    JOIN best USING (profile, data_type)
    CROSS JOIN threshold
    WHERE matmul.efficiency < threshold.most_efficiency
),
worded AS (
    SELECT
        shape.*,
        CASE WHEN least_share < 1 THEN critical_ns * (1 - least_share) ELSE 0 END AS win_ns,
        concat_ws(
            ', ',
            if(row_count < few_rows, format('only {} row{}', row_count, if(row_count = 1, '', 's')), NULL),
            if(column_count < few_rows, format('only {} column{}', column_count, if(column_count = 1, '', 's')), NULL),
            if(inner_count < few_rows, format('only {} products added up', inner_count), NULL),
            if(
                inner_bytes % aligned_bytes > 0,
                format('an inner axis of {} bytes, no multiple of {}', inner_bytes, TRY_CAST(aligned_bytes AS BIGINT)),
                NULL
            )
        ) AS causes
    FROM shape
    CROSS JOIN threshold
),
found AS (
    SELECT
        profile,
        rank_id,
        module,
        op_name AS op,
        type AS kernel_type,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(at_peak_ns)::BIGINT AS at_peak_ns,
        round(sum(win_ns))::BIGINT AS win_ns,
        count(*) AS shape_count,
        arg_max(worded, (win_ns, duration_ns, input_shapes)) AS most
    FROM worded
    GROUP BY ALL
)
SELECT
    found.profile,
    found.rank_id,
    'Matmuls use little of the peak' AS title,
    found.module,
    found.op,
    found.kernel_type,
    format(
        '{} at {} of the peak of {} for {}; {} {}: {} of the peak{}, {}{}',
        if(found.kernel_count = 1, '1 matmul runs', found.kernel_count || ' matmuls run'),
        shown_share(found.at_peak_ns / found.duration_ns),
        found.most.data_type,
        shown_time(found.duration_ns),
        if(found.shape_count = 1, 'of shape', format('of {} shapes most can be won in', found.shape_count)),
        left(trim(found.most.input_shapes, '"'), 60),
        shown_share(found.most.efficiency),
        if(found.most.causes = '', '', format(' ({})', found.most.causes)),
        if(
            found.most.is_memory_bound,
            format(
                'and moving the data needs {} of {}, more than computing',
                shown_time(found.most.memory_ns),
                shown_time(found.most.duration_ns)
            ),
            format('where {} is attainable', shown_share(found.most.best_efficiency))
        ),
        unless_critical(found.duration_ns, found.critical_ns)
    ) AS evidence,
    found.kernel_count AS count,
    found.duration_ns AS time_ns,
    found.win_ns,
    'upper bound' AS kind,
    CASE
        WHEN found.most.is_memory_bound
            THEN 'Give each product more rows (larger batch, more sequences at a time), or move fewer bytes: quantise the '
            || 'weights, keep them in one data type, merge matmuls of the same input into one.'
        WHEN found.most.row_count < threshold.few_rows OR found.most.column_count < threshold.few_rows
            THEN 'Give each product more rows or columns: a larger batch, less tensor parallelism, or one matmul instead of '
            || 'several of the same input, such as query, key and value.'
        WHEN found.most.inner_bytes % threshold.aligned_bytes > 0
            THEN format(
                'Pad the inner axes (hidden size, heads, vocabulary) to multiples of {} bytes, as vocabulary sizes are padded '
                || 'for tensor parallelism.',
                TRY_CAST(threshold.aligned_bytes AS BIGINT)
            )
        ELSE 'Try another form of the same product: the weight or gradient turned, split along the axis that is added up, '
        || 'another format of the weight (NPU: FRACTAL_NZ by torch_npu.npu_format_cast), or a newer library of kernels.'
    END AS what_to_do,
    'docs/rules.md#slow-matmul' AS doc,
    'SELECT duration_ns, critical_ns, efficiency, type, input_shapes FROM roofline.matmul '
    || 'ORDER BY duration_ns DESC LIMIT 50' AS sql
FROM found
CROSS JOIN threshold
WHERE found.win_ns >= threshold.least_win_share * found.critical_ns
