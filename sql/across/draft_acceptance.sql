-- One row is a number of tokens that were drafted for a request in a step (speculative decoding), with how many of them were
-- accepted, as spec_decode.csv of msServiceProfiler has it.
--
-- drafted_count         BIGINT  tokens drafted for a request in a step
-- step_count            BIGINT  how often
-- token_count           BIGINT  all tokens that were drafted so
-- accepted_token_count  BIGINT  of them, those that were accepted
-- accepted_share        DOUBLE  accepted_token_count / token_count; NULL when that is 0
-- median_draft_ns       BIGINT  median of the time of the draft model in such a step, ns; NULL when not recorded
WITH draft AS (
    SELECT
        (record ->> '$.token_count')::BIGINT AS token_count,
        (record ->> '$.accepted_token_count')::BIGINT AS accepted_token_count,
        (record ->> '$.draft_ns')::BIGINT AS draft_ns
    FROM (SELECT unnest(getvariable('requests')::VARCHAR[]) AS record)
    WHERE record ->> '$.kind' = 'draft'
)
SELECT
    draft.token_count AS drafted_count,
    count(*) AS step_count,
    sum(draft.token_count)::BIGINT AS token_count,
    sum(draft.accepted_token_count)::BIGINT AS accepted_token_count,
    sum(draft.accepted_token_count) / nullif(sum(draft.token_count), 0) AS accepted_share,
    quantile_disc(draft.draft_ns, 0.5) AS median_draft_ns
FROM draft
WHERE draft.token_count IS NOT NULL AND draft.accepted_token_count IS NOT NULL
GROUP BY draft.token_count
ORDER BY drafted_count
