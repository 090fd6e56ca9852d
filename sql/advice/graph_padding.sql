-- One row is a rank whose decode passes replay graphs for more requests than they hold.
--
-- @guard pass.time
-- @title Decode passes fill up graphs with rows that no request needs
-- @evidence {count|A decode pass replays a graph|decode passes replay graphs} for {padded_request_count} requests in all and
--     {count?holds|hold} {request_count}: {padding_share} of the rows are padding
-- @kind hint
-- @remedy Capture graphs for numbers of requests that are frequent (cudagraph_capture_sizes of vLLM, --cuda-graph-bs of
--     SGLang): `iterations --by batch` shows them.
-- @query SELECT request_count, padded_request_count, duration_ns, rank_id FROM pass.time WHERE phase = 'decode' AND
--     padded_request_count > request_count ORDER BY duration_ns DESC LIMIT 50
-- @counts none
-- @requires kernels
-- @threshold least_share 0.2: Share of the rows of decode passes that are padding, from which it is a finding
-- @threshold least_pass_count 10: Decode passes, at least
--
-- @columns profile to rank_id, count, time_ns as in advice.finding_of_rank
-- request_count         BIGINT  requests of these passes
-- padded_request_count  BIGINT  requests of their graphs
-- padding_share         DOUBLE  part of the latter that is padding
--
-- A captured graph computes as many rows as it was captured for. A pass with fewer requests replays the next larger one. The
-- rule adds up the decode passes of the steady state for which both numbers are known: annotations say them, or the shapes of
-- attention and of the scores of tokens. It cannot say what can be won: a decode pass reads the weights for one row as for
-- many.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_share') AS least_share,
        max(value) FILTER (name = 'least_pass_count') AS least_pass_count
    FROM advice.threshold
    WHERE rule = 'graph_padding'
),
summary AS (
    SELECT
        profile,
        rank_id,
        count(*) FILTER (padded_request_count > request_count) AS padded_pass_count,
        coalesce(sum(duration_ns) FILTER (padded_request_count > request_count), 0)::BIGINT AS padded_ns,
        count(*) AS pass_count,
        sum(request_count)::BIGINT AS request_count,
        sum(greatest(request_count, coalesce(padded_request_count, request_count)))::BIGINT AS padded_request_count
    FROM pass.time
    WHERE is_steady AND phase = 'decode' AND request_count > 0
    GROUP BY profile, rank_id
)
SELECT
    profile,
    rank_id,
    padded_pass_count AS count,
    padded_ns AS time_ns,
    request_count,
    padded_request_count,
    (padded_request_count - request_count) / padded_request_count AS padding_share
FROM summary
CROSS JOIN threshold
WHERE pass_count >= least_pass_count AND padded_request_count - request_count >= least_share * padded_request_count
  AND padded_pass_count > 0
