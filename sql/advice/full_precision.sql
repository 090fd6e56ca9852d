-- One row is a module, op and type of kernels that compute in FP32 on a rank that multiplies most of its matrices in half
-- precision. Norms compute in FP32 on purpose: where one fused op wins as much, the vectors of a norm are left to
-- unfused_chain.
--
-- @title (is_vector) Vectors are in FP32, matrices in half precision
-- @title Matrices are multiplied in FP32, most others in half precision
-- @evidence {count|1 kernel|kernels} in {data_type}[ ({names})], for {time_ns}; {half_share} of the time of all matrix products
--     is in half precision{unless_critical(time_ns, critical_ns)}
-- @kind upper bound
-- @remedy (is_vector) Use a fused op that takes BF16 or FP16 and computes in FP32 inside, such as a fused norm, softmax or
--     loss; or compute in half precision where the accuracy allows it.
-- @remedy Run it in BF16 or FP16: autocast around it, and inputs and weights of that type; check the accuracy.
-- @query SELECT duration_ns, kernel_count, data_type, type, module FROM kernels.work WHERE data_type = 'fp32' OR multiplies
--     ORDER BY duration_ns DESC LIMIT 50
-- @counts kernels
-- @requires compute, shapes
-- @threshold least_half_share 0.5: Share of half precision in the time of all that multiplies matrices
-- @threshold matrix_speedup 16: How much faster half precision multiplies matrices where no peaks are known: the most on any
--     device
-- @threshold vector_speedup 2: How much faster vectors of half the bytes are computed
-- @yields (is_vector) unfused_chain (is_norm)
--
-- @columns profile to rank_id, module to kernel_type, count to win_ns as in advice.finding_of_rank
-- is_vector    BOOLEAN  whether they multiply no matrices
-- data_type    VARCHAR  data type in which they compute
-- names        VARCHAR  of vectors the ops, or the types of kernels without one; NULL for matrices
-- half_share   DOUBLE   share of half precision in the time of all that multiplies matrices on the rank
-- critical_ns  BIGINT   the part of time_ns in kernels that are critical, as in critical.kernel, ns
--
-- Kernels that compute in FP32 on a rank whose matrix products are mostly half precision by time
-- (`full_precision.least_half_share`, 50 %). Matrix products, by module, op and type: the win is time × (1 − 1 / speedup),
-- where the speedup is the ratio of the peaks of the device (`mfu.peak`; 4 on Ascend), or if the peaks are not known
-- `matrix_speedup` (16, the most on any device). Vector ops, by module: time × (1 − 1 / 2), for half the bytes
-- (`vector_speedup`); outside modules they do not count, since optimizers compute in FP32 on purpose. Both are upper bounds.
-- Norms, softmax and losses are often FP32 on purpose: there a fused op helps, not another type. Norms for which
-- [unfused-chain](#unfused-chain) reports an equal win are not reported here.
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
counted_kernel AS (
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
finding AS (
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
    FROM counted_kernel
    GROUP BY ALL
),
candidate AS (
    SELECT
        finding.*,
        half.half_share,
        (
            finding.critical_ns
            - finding.critical_ns // greatest(
                1,
                if(
                    finding.multiplies,
                    coalesce(speedup.matrix_speedup, threshold.matrix_speedup),
                    threshold.vector_speedup
                )
            )
        )::BIGINT AS win_ns
    FROM finding
    JOIN half ON half.profile = finding.profile
    CROSS JOIN threshold
    LEFT JOIN speedup ON speedup.profile = finding.profile AND speedup.data_type = finding.data_type
    WHERE half.half_share >= threshold.least_half_share
)
SELECT
    candidate.profile,
    candidate.rank_id,
    candidate.module,
    candidate.op,
    candidate.kernel_type,
    candidate.kernel_count AS count,
    candidate.duration_ns AS time_ns,
    candidate.win_ns,
    NOT candidate.multiplies AS is_vector,
    replace(upper(candidate.data_type), ' OR ', ' or ') AS data_type,
    if(candidate.multiplies, NULL, shown_names(list_sort(candidate.names))) AS names,
    candidate.half_share,
    candidate.critical_ns
FROM candidate
