-- One row is a module, op and type of matmuls that use little of the peak and could be faster.
--
-- @guard roofline.matmul
-- @title Matmuls use little of the peak
-- @evidence {count|1 matmul runs|matmuls run} at {peak_share} of the peak of {data_type} for {time_ns}; of
--     {shape_count|shape|shapes most can be won in} {input_shapes}: {efficiency} of the peak[ ({causes})], [and moving the data
--     needs {memory_ns} of {most_ns}, more than computing][where {attainable_share} is attainable]{unless_critical(time_ns,
--     critical_ns)}
-- @kind upper bound
-- @remedy (situation = memory) Give each product more rows (larger batch, more sequences at a time), or move fewer bytes:
--     quantise the weights, keep them in one data type, merge matmuls of the same input into one.
-- @remedy (situation = few rows) Give each product more rows or columns: a larger batch, less tensor parallelism, or one
--     matmul instead of several of the same input, such as query, key and value.
-- @remedy (situation = batched) In an attention, take a fused one: scaled_dot_product_attention<<,
--     torch_npu.npu_fusion_attention||>>. Else pad the inner axes to multiples of {multiple} bytes.
-- @remedy (situation = not aligned) Pad the inner axes (hidden size, heads, vocabulary) to multiples of {multiple} bytes, as
--     vocabulary sizes are padded for tensor parallelism.
-- @remedy Try another form of the same product: the weight or gradient turned, split along the axis that is added up,
--     another format of the weight<< (FRACTAL_NZ by torch_npu.npu_format_cast)||>>, or a newer library of kernels.
-- @query SELECT duration_ns, critical_ns, efficiency, type, input_shapes FROM roofline.matmul ORDER BY duration_ns DESC LIMIT
--     50
-- @counts kernels
-- @requires compute, shapes
-- @threshold aligned_bytes 256 bytes: What the inner axes of matrices are a multiple of
-- @threshold attainable_efficiency 0.8: Share of the peak that matmuls can reach where none does: from 0.8 on msprof-analyze
--     calls the cube bound
-- @threshold few_rows 128: Rows, columns or products below which a matmul is small
-- @threshold least_win_share 0.1: Share of the critical time that can be won
-- @threshold most_efficiency 0.5: Share of the peak from which on a matmul is not slow
--
-- @columns profile to rank_id, module to kernel_type, count to win_ns as in advice.finding_of_rank
-- peak_share        DOUBLE   share of the peak that they reach
-- critical_ns       BIGINT   the part of time_ns in kernels that are critical, as in critical.kernel, ns
-- shape_count       BIGINT   shapes of their inputs
-- data_type         VARCHAR  of the shape in which most can be won, the data type
-- input_shapes      VARCHAR  its inputs, cut to 60 letters
-- efficiency        DOUBLE   share of the peak that it reaches
-- causes            VARCHAR  what is small or not aligned in it; NULL when nothing is
-- memory_ns         BIGINT   where moving its data takes longer than computing, the time that it takes, ns; else NULL
-- most_ns           BIGINT   time of its kernels, ns
-- attainable_share  DOUBLE   else the share of the peak that is attainable
-- situation         VARCHAR  why it is slow: memory, few rows, batched (not aligned, one product for each head or so), not
--                            aligned, or other
-- multiple          BIGINT   the threshold aligned_bytes
--
-- Matmuls with known FLOPs and peak (as in [MFU](mfu.md)) that reach less than half of the peak while they run
-- (`most_efficiency`), by module, op and type. This is the efficiency of the kernels; MFU would divide by all time. The win is
-- an upper bound. It is the critical time less the time that the products need at the best efficiency of any shape of the same
-- data type on the rank, or at 80 % of the peak if no shape reaches that (`attainable_efficiency`; from 0.8 on msprof-analyze
-- calls the cube bound), and at least the time to move inputs and outputs at the best rate of any kernel of the rank
-- (`roofline.bandwidth`). The evidence names the shape with most to win, the attainable efficiency there (or the time to move
-- the data, if that is longer than computing), and unfavourable sizes: fewer than 128 rows, columns or products added up
-- (`few_rows`), an inner axis that is no multiple of 256 bytes (`aligned_bytes`, as msprof-analyze checks). The remedy follows
-- from these: more rows, merged or quantised weights, padding, another form of the product. `FROM roofline.matmul` has all
-- shapes. The rule needs a known peak (`--peak-tflops`) and shapes.
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
worded_shape AS (
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
finding AS (
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
        arg_max(worded_shape, (win_ns, duration_ns, input_shapes)) AS most
    FROM worded_shape
    GROUP BY ALL
)
SELECT
    finding.profile,
    finding.rank_id,
    finding.module,
    finding.op,
    finding.kernel_type,
    finding.kernel_count AS count,
    finding.duration_ns AS time_ns,
    finding.win_ns,
    finding.at_peak_ns / finding.duration_ns AS peak_share,
    finding.critical_ns,
    finding.shape_count,
    finding.most.data_type,
    shown_shapes(finding.most.input_shapes) AS input_shapes,
    finding.most.efficiency,
    nullif(finding.most.causes, '') AS causes,
    if(finding.most.is_memory_bound, finding.most.memory_ns, NULL) AS memory_ns,
    finding.most.duration_ns AS most_ns,
    if(finding.most.is_memory_bound, NULL, finding.most.best_efficiency) AS attainable_share,
    CASE
            WHEN finding.most.is_memory_bound THEN 'memory'
            WHEN finding.most.row_count < threshold.few_rows OR finding.most.column_count < threshold.few_rows THEN 'few rows'
            WHEN coalesce(finding.most.inner_bytes % threshold.aligned_bytes = 0, true) THEN 'other'
            -- The heads of an attention have the size that they have.
            WHEN regexp_matches(concat(finding.op, ' ', finding.kernel_type), '(?i)bmm|batch_?mat_?mul') THEN 'batched'
            ELSE 'not aligned'
        END AS situation,
    TRY_CAST(threshold.aligned_bytes AS BIGINT) AS multiple
FROM finding
CROSS JOIN threshold
WHERE finding.win_ns >= threshold.least_win_share * finding.critical_ns
