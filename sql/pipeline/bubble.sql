-- One row is the rank as a stage of a pipeline that may have bubbles: there are several stages; or the stages are not known,
-- and it sends or receives between passes. Other ranks have none.
--
-- @guard pipeline.sign
--
-- @columns stage_count to step_count, micro_batch_count, bubble_ns to least_share as in pipeline.rank
--
-- Without a sign of a pipeline stage_count is not above 1, and no send or receive is a part of the bubbles.
SELECT stage_count, step_count, micro_batch_count, bubble_ns, p2p_ns, idle_ns, bubble_share, least_share
FROM pipeline.rank
WHERE coalesce(stage_count > 1, p2p_ns > 0)
