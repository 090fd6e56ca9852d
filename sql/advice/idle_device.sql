-- One row is a rank whose device has hardly any work.
--
-- @title The device has hardly any work
-- @evidence The device works for {time_ns}, {busy_share} of the {host_ns} that {step_count|the step takes|steps take} on the
--     host
-- @kind hint
-- @remedy Look at the host: op-stats shows its time by op, stacks by Python function. See whether model and data are on the
--     device at all (.to(device)), and whether the work that you mean was recorded; else give the device more at a time
--     (larger batches), or prepare its input beside it.
-- @query SELECT host_ns, computing_ns, free_ns, preparing_ns, step_id, rank_id FROM step.time ORDER BY host_ns DESC LIMIT 20
-- @counts none
-- @requires kernels, ops
-- @threshold most_busy_share 0.05: Share of the time on the host in which the device works, less than
--
-- @columns profile to rank_id, time_ns as in advice.finding_of_rank
-- busy_share  DOUBLE   share of the time on the host in which it works
-- host_ns     BIGINT   time of the steps on the host, ns
-- step_count  BIGINT   steps
--
-- The device computes, communicates or copies for less than 5 % of the time of the steps on the host
-- (`idle_device.most_busy_share`). A hint, since rules about idle time say what the device waits for, where that is recorded;
-- this one says so also where nothing of the device is long enough to be a finding.
WITH threshold AS (
    SELECT max(value) FILTER (name = 'most_busy_share') AS most_busy_share
    FROM advice.threshold
    WHERE rule = 'idle_device'
),
rank AS (
    SELECT
        profile,
        rank_id,
        count(*) AS step_count,
        sum(computing_ns + communication_not_overlapped_ns + coalesce(copying_not_overlapped_ns, 0))::BIGINT AS busy_ns,
        sum(host_ns)::BIGINT AS host_ns
    FROM step.time
    WHERE stage_ns IS NOT NULL AND origin = 'kernels' AND host_ns > 0
    GROUP BY profile, rank_id
)
SELECT
    rank.profile,
    rank.rank_id,
    rank.busy_ns AS time_ns,
    rank.busy_ns / rank.host_ns AS busy_share,
    rank.host_ns,
    rank.step_count
FROM rank
CROSS JOIN threshold
WHERE rank.busy_ns < threshold.most_busy_share * rank.host_ns
