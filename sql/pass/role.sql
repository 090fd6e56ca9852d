-- One row is the rank, if it has passes that serve requests, and its role where prefill and decode run apart (disaggregated
-- serving), by the time of these passes on the device.
--
-- @guard pass.kernel
--
-- role        VARCHAR  prefill or decode: 90 % of the time of its passes is of that kind; both: neither; NULL when the phase of
--                      half of the time is not known
-- prefill_ns  BIGINT   time of passes that compute prompts, ns
-- decode_ns   BIGINT   time of those that compute one token of each request, with the drafted tokens that it verifies, ns. A
--                      prompt of one token is what remains where its KV cache came from another rank
-- mixed_ns    BIGINT   time of those that do both, ns
-- unknown_ns  BIGINT   time of those whose phase is not known, ns
WITH threshold AS (
    SELECT 0.9::DOUBLE AS least_share, 0.5::DOUBLE AS least_known
),
worked AS (
    SELECT
        CASE
            WHEN phase = 'decode' OR coalesce(prefill_token_count <= prefill_request_count, token_count <= request_count)
                THEN 'decode'
            ELSE phase
        END AS work,
        time.end_ns - time.start_ns AS duration_ns
    FROM pass.instance
    JOIN pass.turn AS time USING (pass_id)
    WHERE phase IS NULL OR phase IN ('prefill', 'decode', 'mixed')
),
summed AS (
    SELECT
        coalesce(sum(duration_ns) FILTER (work = 'prefill'), 0)::BIGINT AS prefill_ns,
        coalesce(sum(duration_ns) FILTER (work = 'decode'), 0)::BIGINT AS decode_ns,
        coalesce(sum(duration_ns) FILTER (work = 'mixed'), 0)::BIGINT AS mixed_ns,
        coalesce(sum(duration_ns) FILTER (work IS NULL), 0)::BIGINT AS unknown_ns
    FROM worked
    HAVING count(*) > 0
)
SELECT
    CASE
        WHEN prefill_ns + decode_ns + mixed_ns <= unknown_ns * (1 - least_known) / least_known THEN NULL
        WHEN prefill_ns >= least_share * (prefill_ns + decode_ns + mixed_ns) THEN 'prefill'
        WHEN decode_ns >= least_share * (prefill_ns + decode_ns + mixed_ns) THEN 'decode'
        ELSE 'both'
    END AS role,
    prefill_ns,
    decode_ns,
    mixed_ns,
    unknown_ns
FROM summed
-- All pairs: the thresholds are one row.
CROSS JOIN threshold
