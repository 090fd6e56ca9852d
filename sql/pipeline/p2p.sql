-- One row is a send or receive operator that ran while a step had passes: between the start of the first of them and the end
-- of the last one on this rank. One that ends as the first pass starts, such as the receive of its input, is among them.
--
-- pass_step_id  BIGINT   the step of these passes; NULL outside steps and without steps
-- @columns kernel_id to number as in communication.p2p
WITH passing AS (
    SELECT step_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM pipeline.pass
    GROUP BY step_id
)
SELECT passing.step_id AS pass_step_id, p2p.*
FROM communication.p2p
-- All pairs: steps with passes are few.
JOIN passing ON p2p.start_ns < passing.end_ns AND p2p.start_ns + p2p.elapse_ns >= passing.start_ns
ORDER BY passing.step_id, p2p.start_ns, p2p.kernel_id, p2p.number
