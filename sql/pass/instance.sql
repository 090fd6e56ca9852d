-- One row is a pass: the model once over a batch of requests, with what the batch holds.
--
-- @guard pass.kernel
--
-- pass_id                BIGINT   a pass of pass.kernel
-- found_by               VARCHAR  what shows the passes of the rank: annotation of an engine; tokens, which kernels choose at
--                                 the end of each; layers that repeat in kernels; or gaps between kernels
-- phase                  VARCHAR  prefill: it computes prompts, or chunks of them; decode: a token of each request, with
--                                 drafted ones that it verifies; mixed: both; draft: a small model drafts tokens; dummy: no
--                                 request, to keep step with other ranks; capture: a graph is captured; NULL when not known
-- phase_from             VARCHAR  what says the phase: annotation or kernels; NULL when it is not known
-- request_count          BIGINT   requests; from kernels those for which it chooses a token; NULL when not known
-- prefill_request_count  BIGINT   requests in prefill; NULL when not known
-- decode_request_count   BIGINT   requests in decode; NULL when not known
-- token_count            BIGINT   tokens that it computes; from kernels the rows, padding included; NULL when not known
-- padded_request_count   BIGINT   requests with those that fill it up to the size of a graph; NULL when not known
-- @columns prefill_token_count to decode_pair_count as in pass.annotation
-- key_count              BIGINT   context: tokens that its requests attend to, those of the pass included; NULL when not known
-- marked_id              BIGINT   the pass of pass.marked; NULL where annotations mark none
-- reason                 VARCHAR  why phase, requests, tokens or context are not known; NULL where all are
--
-- The phase from kernels, in the order of precedence: draft layers; attention of both kinds, or of calls for different
-- requests, is mixed; attention of one kind, or with one query for each sequence, tells its phase. Of attention that serves
-- both with more queries than sequences, verified drafts are decode; a single request, keys without a cache, and calls of one
-- kind on a rank where others have two are prefill; requests that go on from the pass before, with others, are mixed. Without a
-- choice of tokens, where most passes have one, a pass that decodes is a dummy.
WITH evidence AS (
    SELECT
        *,
        coalesce(chosen_count, sequence_count) AS known_count,
        bool_or(has_two_calls AND has_several) OVER () AS calls_apart,
        NOT has_choice AND avg(has_choice::INTEGER) FILTER (NOT coalesce(is_draft, false)) OVER () >= 0.5 AS is_without_choice
    FROM pass.evidence
),
judged AS (
    SELECT
        *,
        CASE
            WHEN is_draft THEN 'draft'
            WHEN is_without_choice AND NOT has_prefill AND NOT has_several THEN 'dummy'
            WHEN has_prefill AND has_decode THEN 'mixed'
            WHEN has_prefill AND NOT has_attention THEN 'prefill'
            WHEN has_decode AND NOT has_attention THEN 'decode'
            WHEN NOT (has_prefill OR has_decode OR has_attention) THEN NULL
            WHEN has_two_calls AND has_several THEN 'mixed'
            WHEN has_one_each OR query_count <= known_count THEN 'decode'
            WHEN query_count <= verified_count + chosen_count THEN 'decode'
            WHEN known_count = 1 OR sequence_count = 1 OR is_without_cache THEN 'prefill'
            WHEN has_several AND calls_apart THEN 'prefill'
            WHEN carried_count >= known_count THEN 'decode'
            WHEN carried_count > 0 THEN 'mixed'
        END AS phase_of_kernels
    FROM evidence
),
passes AS (
    SELECT pass_id, min(found_by) AS found_by, min(marked_id) AS marked_id
    FROM pass.kernel
    GROUP BY pass_id
),
described AS (
    SELECT
        passes.pass_id,
        passes.found_by,
        passes.marked_id,
        coalesce(marked.phase, judged.phase_of_kernels) AS phase,
        CASE WHEN marked.phase IS NOT NULL THEN 'annotation' WHEN judged.phase_of_kernels IS NOT NULL THEN 'kernels' END
            AS phase_from,
        coalesce(marked.request_count, if(judged.phase_of_kernels = 'dummy', 0, judged.known_count)) AS request_count,
        judged.sequence_count,
        coalesce(judged.decode_count, judged.carried_count) AS carried_count,
        marked.prefill_request_count,
        marked.decode_request_count,
        coalesce(marked.token_count, judged.query_count) AS token_count,
        marked.padded_request_count,
        marked.prefill_token_count,
        marked.prefill_key_count,
        marked.prefill_square_count,
        marked.prefill_pair_count,
        marked.decode_token_count,
        marked.decode_key_count,
        marked.decode_square_count,
        marked.decode_pair_count,
        CASE
            WHEN NOT (judged.has_prefill OR judged.has_decode OR judged.has_attention) THEN 'no kernel is known to be attention'
            WHEN judged.query_count IS NULL OR judged.known_count IS NULL
                THEN 'its attention serves prefill and decode, and shapes do not tell which'
            ELSE 'its attention serves prefill and decode at once, and nothing tells whether requests go on'
        END AS reason_of_phase
    FROM passes
    JOIN judged USING (pass_id)
    LEFT JOIN pass.marked USING (marked_id)
),
completed AS (
    SELECT
        * REPLACE (
            CASE
                WHEN prefill_request_count IS NOT NULL THEN prefill_request_count
                WHEN phase = 'prefill' THEN request_count
                WHEN phase IN ('decode', 'dummy') THEN 0
                WHEN phase = 'mixed' THEN request_count - carried_count
            END AS prefill_request_count,
            CASE
                WHEN decode_request_count IS NOT NULL THEN decode_request_count
                WHEN phase = 'decode' THEN request_count
                WHEN phase IN ('prefill', 'dummy') THEN 0
                WHEN phase = 'mixed' THEN carried_count
            END AS decode_request_count,
            coalesce(
                padded_request_count,
                if(phase IN ('decode', 'dummy') AND sequence_count > request_count, sequence_count, NULL)
            ) AS padded_request_count
        ),
        CASE
            WHEN prefill_request_count = 0 THEN decode_key_count
            WHEN decode_request_count = 0 THEN prefill_key_count
            ELSE prefill_key_count + decode_key_count
        END AS key_count
    FROM described
)
SELECT
    pass_id,
    found_by,
    phase,
    phase_from,
    request_count,
    prefill_request_count,
    decode_request_count,
    token_count,
    padded_request_count,
    prefill_token_count,
    prefill_key_count,
    prefill_square_count,
    prefill_pair_count,
    decode_token_count,
    decode_key_count,
    decode_square_count,
    decode_pair_count,
    key_count,
    marked_id,
    nullif(
        concat_ws(
            '; ',
            if(phase IS NULL, 'phase: ' || reason_of_phase, NULL),
            if(request_count IS NULL, 'requests: no choice of tokens has shapes', NULL),
            if(token_count IS NULL, 'tokens: the shapes of attention and products are not recorded', NULL),
            if(key_count IS NULL AND coalesce(phase NOT IN ('dummy', 'capture'), true), 'context: no annotation says it', NULL)
        ),
        ''
    ) AS reason
FROM completed
ORDER BY pass_id
