-- One row is a rank of a server that computes prompts in chunks of so few tokens that matrix products wait for their weights.
--
-- @guard pass.time
-- @title Prompts are computed in chunks too small to keep the device computing
-- @evidence {count} passes end at {token_count} tokens, with prompts still to compute, and take {time_ns}, {time_share} of the
--     time of all passes; [on {product} ]matrix products of fewer than {needed_token_count} rows read their weights for longer
--     than they compute
-- @kind (no win_ns) hint
-- @kind upper bound
-- @remedy Let a pass take more tokens: --max-num-batched-tokens of vLLM, where --long-prefill-token-threshold is not below it;
--     --chunked-prefill-size of SGLang. Then measure the time between tokens: requests that generate wait for longer passes.
-- @query SELECT token_count, duration_ns, request_count, phase, rank_id FROM pass.time WHERE phase IN ('prefill', 'mixed')
--     ORDER BY token_count DESC LIMIT 50
-- @counts steps
-- @requires kernels
-- @threshold least_token_count 256: Tokens of a pass, at least, where the peak of the device or the bandwidth of its memory is
--     not known
-- @threshold least_pass_count 10: Passes that end at the limit, at least
-- @threshold least_share 0.05: Share of the time of all passes that these take, at least
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- phase               VARCHAR  phase of the passes that take most of it, prefill or mixed
-- token_count         BIGINT   tokens of these passes: no pass with prompts has more
-- needed_token_count  BIGINT   tokens from which matrix products compute for longer than they read their weights; where that is
--                              not known, the threshold
-- product             VARCHAR  the device whose data sheet says it; NULL where the threshold counts
-- time_share          DOUBLE   time_ns / the time of all passes of the rank
--
-- Chunked prefill ends a pass at a number of tokens and leaves the rest of a prompt to the next one. A matrix product of n
-- rows does 2 n operations for each weight that it reads, so the pass is bound by computing from n = peak × bytes of a
-- weight / (2 × bandwidth) tokens on: some 300 on an H100 in BF16, 150 on an A100. The peak is that of the rank's matmuls,
-- the bandwidth that of the data sheet (`roofline.product`); where one of them is not known, the threshold counts, and the
-- finding is a hint. Sarathi-Serve (OSDI 2024), which introduced such chunks, takes 512 tokens and more on an A100. The win
-- is time × (1 − tokens / needed tokens), an upper bound: as if all of a pass but its weights was free. Experts read their
-- weights for fewer rows each, and need more.
-- The limit is the largest number of tokens of prefill and mixed passes in the steady state. Short prompts can have one
-- length, too; so it counts where most of these passes attend to earlier tokens of their prompts (annotations say so), or
-- hold three or more different numbers of requests that generate and still as many tokens in all.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_token_count')::BIGINT AS least_token_count,
        max(value) FILTER (name = 'least_pass_count') AS least_pass_count,
        max(value) FILTER (name = 'least_share') AS least_share
    FROM advice.threshold
    WHERE rule = 'small_prefill_chunks'
),
steady AS (
    SELECT
        time.profile,
        time.rank_id,
        time.phase,
        time.token_count,
        time.duration_ns,
        time.decode_request_count,
        instance.prefill_key_count > instance.prefill_token_count AS is_continued,
        max(time.token_count) FILTER (time.phase IN ('prefill', 'mixed')) OVER (PARTITION BY time.profile) AS most_token_count,
        time.phase IN ('prefill', 'mixed') AND time.token_count = most_token_count AS is_at_limit
    FROM pass.time
    JOIN pass.instance ON instance.profile = time.profile AND instance.pass_id = time.pass_id
    WHERE time.is_steady
),
at_limit AS (
    SELECT
        profile,
        rank_id,
        min(most_token_count) AS token_count,
        count(*) FILTER (is_at_limit) AS pass_count,
        coalesce(sum(duration_ns) FILTER (is_at_limit), 0)::BIGINT AS limit_ns,
        if(
            coalesce(sum(duration_ns) FILTER (is_at_limit AND phase = 'mixed'), 0) * 2 > limit_ns, 'mixed', 'prefill'
        ) AS phase,
        sum(duration_ns)::BIGINT AS all_ns,
        count(DISTINCT decode_request_count) FILTER (is_at_limit) AS decode_counts,
        avg(is_continued::INTEGER) FILTER (is_at_limit) AS continued_share
    FROM steady
    GROUP BY profile, rank_id
),
matmul AS (
    SELECT
        profile,
        sum(flops) / nullif(sum(at_peak_ns), 0) AS flops_per_ns,
        arg_max(data_type, (duration_ns, data_type)) AS data_type
    FROM roofline.matmul
    GROUP BY profile
),
device AS (
    SELECT profile, min(product) AS product
    FROM trace.chip
    GROUP BY profile
    HAVING count(DISTINCT product) = 1
),
memory AS (
    SELECT device.profile, min(known.product) AS product, min(known.memory_gb_s) AS memory_gb_s
    FROM device
    -- Few products.
    JOIN roofline.product AS known ON known.profile = device.profile AND regexp_matches(device.product, known.pattern)
    GROUP BY device.profile
    HAVING count(*) = 1
),
needed AS (
    SELECT
        matmul.profile,
        memory.product,
        ceil(
            matmul.flops_per_ns / memory.memory_gb_s / 2
            * CASE
                WHEN regexp_matches(matmul.data_type, '8$|8_') THEN 1
                WHEN contains(matmul.data_type, '32') THEN 4
                ELSE 2
            END
        )::BIGINT AS token_count
    FROM matmul
    JOIN memory USING (profile)
    WHERE matmul.flops_per_ns IS NOT NULL
)
SELECT
    at_limit.profile,
    at_limit.rank_id,
    at_limit.pass_count AS count,
    at_limit.limit_ns AS time_ns,
    if(
        needed.token_count IS NULL,
        NULL,
        at_limit.limit_ns - at_limit.limit_ns * at_limit.token_count // needed.token_count
    ) AS win_ns,
    at_limit.phase,
    at_limit.token_count,
    coalesce(needed.token_count, threshold.least_token_count) AS needed_token_count,
    needed.product,
    at_limit.limit_ns / at_limit.all_ns AS time_share
FROM at_limit
LEFT JOIN needed USING (profile)
CROSS JOIN threshold
WHERE at_limit.pass_count >= least_pass_count
  AND at_limit.limit_ns >= least_share * at_limit.all_ns
  AND at_limit.token_count < coalesce(needed.token_count, threshold.least_token_count)
  AND (at_limit.decode_counts >= 3 OR coalesce(at_limit.continued_share >= 0.5, false))
