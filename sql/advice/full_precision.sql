-- One row is a module, op and type of kernels that compute in FP32 on a rank that multiplies most of its matrices in half
-- precision. Norms compute in FP32 on purpose: where one fused op wins as much, the vectors of a norm are left to
-- unfused_chain.
-- Requires compute, shapes.
--
-- profile to sql as in advice.finding_of_rank
--
-- Outside modules, only what multiplies matrices counts: an optimizer computes in FP32 on purpose.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_half_share') AS least_half_share,
        max(value) FILTER (name = 'matrix_speedup') AS matrix_speedup,
        max(value) FILTER (name = 'vector_speedup') AS vector_speedup
    FROM advice.threshold
    WHERE rule = 'full_precision'
),
half AS (
    SELECT profile, sum(duration_ns) FILTER (data_type IN ('fp16', 'bf16')) / sum(duration_ns) AS half_share
    FROM kernels.work
    WHERE multiplies
    GROUP BY profile
),
-- How many times faster half precision is, where the peaks of both are known.
speedup AS (
    SELECT
        slow.profile,
        slow.data_type,
        max(fast.peak_flops_per_us) / min(slow.peak_flops_per_us) AS matrix_speedup
    FROM mfu.peak AS slow
    JOIN mfu.peak AS fast
        ON fast.profile = slow.profile
        AND fast.device_id IS NOT DISTINCT FROM slow.device_id
        AND fast.data_type IN ('fp16', 'bf16')
    WHERE slow.peak_flops_per_us > 0 AND fast.peak_flops_per_us IS NOT NULL
    GROUP BY slow.profile, slow.data_type
),
counted AS (
    SELECT
        profile,
        rank_id,
        module,
        op_name,
        type,
        multiplies,
        data_type,
        sum(kernel_count) AS kernel_count,
        sum(duration_ns) AS duration_ns,
        sum(critical_ns) AS critical_ns
    FROM kernels.work
    WHERE if(multiplies, data_type IN ('fp32', 'hf32', 'tf32', 'fp32 or hf32', 'fp32 or tf32'), data_type = 'fp32')
      AND (multiplies OR module IS NOT NULL)
      AND role IS NULL
      AND coalesce(engine::VARCHAR <> 'cpu', true)
    GROUP BY ALL
),
-- The vector ops of a module, such as those of a norm, are one finding.
found AS (
    SELECT
        profile,
        rank_id,
        module,
        if(multiplies, op_name, NULL) AS op,
        if(multiplies, type, NULL) AS kernel_type,
        multiplies,
        data_type,
        list(DISTINCT coalesce(op_name, type)) AS names,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns
    FROM counted
    GROUP BY ALL
),
judged AS (
    SELECT
        found.*,
        half.half_share,
        (
            found.critical_ns
            - found.critical_ns // greatest(
                1,
                if(
                    found.multiplies,
                    coalesce(speedup.matrix_speedup, threshold.matrix_speedup),
                    threshold.vector_speedup
                )
            )
        )::BIGINT AS win_ns
    FROM found
    JOIN half ON half.profile = found.profile
    CROSS JOIN threshold
    LEFT JOIN speedup ON speedup.profile = found.profile AND speedup.data_type = found.data_type
    WHERE half.half_share >= threshold.least_half_share
)
SELECT
    judged.profile,
    judged.rank_id,
    if(
        judged.multiplies,
        'Matrices are multiplied in FP32, most others in half precision',
        'Vectors are in FP32, matrices in half precision'
    ) AS title,
    judged.module,
    judged.op,
    judged.kernel_type,
    format(
        '{} in {}{}, for {}; {} of the time of all matrix products is in half precision{}',
        shown_kernels(judged.kernel_count),
        replace(upper(judged.data_type), ' OR ', ' or '),
        if(judged.multiplies, '', ' (' || shown_names(list_sort(judged.names)) || ')'),
        shown_time(judged.duration_ns),
        shown_share(judged.half_share),
        unless_critical(judged.duration_ns, judged.critical_ns)
    ) AS evidence,
    judged.kernel_count AS count,
    judged.duration_ns AS time_ns,
    judged.win_ns,
    'upper bound' AS kind,
    if(
        judged.multiplies,
        'Run it in BF16 or FP16: autocast around it, and inputs and weights of that type; check the accuracy.',
        'Use a fused op that takes BF16 or FP16 and computes in FP32 inside, such as a fused norm, softmax or loss; or compute '
        || 'in half precision where the accuracy allows it.'
    ) AS what_to_do,
    'docs/rules.md#full-precision' AS doc,
    'SELECT duration_ns, kernel_count, data_type, type, module FROM kernels.work WHERE data_type = ''fp32'' OR multiplies '
    || 'ORDER BY duration_ns DESC LIMIT 50' AS sql
FROM judged
WHERE judged.multiplies
   OR NOT EXISTS (
       FROM chain.cost
       WHERE cost.profile = judged.profile
         AND cost.module = judged.module
         AND cost.pattern IN ('RMSNorm', 'LayerNorm')
         AND cost.win_ns >= judged.win_ns
   )
