-- One row is a request in a pass, where the clock of msServiceProfiler fits that of the rank.
--
-- profile      VARCHAR  the folder, the identity of the rank
-- rank_id      INTEGER  the rank; NULL when the files name none
-- pass_id      BIGINT   a pass of pass.time
-- batch_id     BIGINT   the batch of across.service_batch that ran in it
-- request      VARCHAR  name of the request
-- iteration    BIGINT   how many tokens it had before; NULL when not recorded
-- phase        VARCHAR  prefill or decode; NULL when not recorded
-- token_count  BIGINT   its tokens that the pass computes; NULL when not recorded
SELECT
    candidate.profile,
    candidate.rank_id,
    candidate.pass_id,
    candidate.batch_id,
    batch_request.request,
    batch_request.iteration,
    batch_request.phase,
    batch_request.token_count
FROM across.batch_candidate AS candidate
JOIN across.batch_fit AS fit ON fit.profile = candidate.profile AND fit.stream = candidate.stream AND fit.is_fit
JOIN across.batch_request ON batch_request.batch_id = candidate.batch_id
WHERE candidate.is_inside
ORDER BY candidate.rank_id NULLS LAST, candidate.profile, candidate.pass_id, batch_request.request
