-- One row is a rank that spends much of its time in passes without a request, to keep step with other ranks.
--
-- @guard pass.time
-- @title A rank runs passes without a request
-- @evidence {count|A pass holds|passes hold} no request and {count?takes|take} {time_ns}, {dummy_share} of the time of all
--     passes of the rank: it keeps step with ranks that serve
-- @kind hint
-- @remedy Spread requests evenly over the data parallel ranks (load balancing of the front end), or use fewer of them while
--     there is little to serve.
-- @query SELECT duration_ns, pass_id, rank_id FROM pass.time WHERE phase = 'dummy' ORDER BY duration_ns DESC LIMIT 50
-- @counts none
-- @requires kernels
-- @threshold least_share 0.1: Share of the time of all passes of the rank, from which it is a finding
-- @threshold least_pass_count 10: Passes of the rank, at least
--
-- @columns profile to rank_id, count, time_ns as in advice.finding_of_rank
-- dummy_share  DOUBLE  time_ns / the time of all passes of the rank
--
-- With experts spread over data parallel ranks, all of them take part in each pass. A rank without requests runs a dummy batch.
-- That is no cost for the others, but the rank serves nobody in this time. Annotations tell dummy passes, or that a pass
-- chooses no token where most do (iterations.md).
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_share') AS least_share,
        max(value) FILTER (name = 'least_pass_count') AS least_pass_count
    FROM advice.threshold
    WHERE rule = 'dummy_passes'
),
summary AS (
    SELECT
        profile,
        rank_id,
        count(*) AS pass_count,
        count(*) FILTER (phase = 'dummy') AS dummy_count,
        coalesce(sum(duration_ns) FILTER (phase = 'dummy'), 0)::BIGINT AS dummy_ns,
        sum(duration_ns)::BIGINT AS all_ns
    FROM pass.time
    WHERE is_steady
    GROUP BY profile, rank_id
)
SELECT profile, rank_id, dummy_count AS count, dummy_ns AS time_ns, dummy_ns / all_ns AS dummy_share
FROM summary
CROSS JOIN threshold
WHERE pass_count >= least_pass_count AND dummy_ns > 0 AND dummy_ns >= least_share * all_ns
