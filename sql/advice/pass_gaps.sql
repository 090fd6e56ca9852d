-- One row is a rank and a phase of passes of a server before which the device idles: the host is long between passes.
--
-- @guard pass.time
-- @title (phase = prefill) The device idles before prefill passes
-- @title (phase = mixed) The device idles before passes that mix prefill and decode
-- @title The device idles before decode passes
-- @evidence Before {count} {phase} passes the device idles for {time_ns}, {idle_share} of their time with
--     it[; between passes the host schedules for {scheduling_ns}][; it chooses tokens there for {sampling_ns}]
-- @kind upper bound
-- @remedy Let the host prepare the next batch while the device computes (asynchronous scheduling), sample on the device, and
--     run what is left between passes on another process, such as the texts of tokens.
-- @query SELECT idle_before_ns, host_before_ns, phase, request_count, rank_id FROM pass.time ORDER BY idle_before_ns DESC
--     LIMIT 50
-- @counts idle
-- @requires kernels
-- @threshold least_share 0.05: Share of the time of passes, with what lies before them, from which it is a finding
-- @threshold least_pass_count 10: Passes of the phase, at least
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- phase          VARCHAR  phase of the passes, as in pass.instance
-- idle_share     DOUBLE   time_ns / the time of these passes with what lies before them
-- scheduling_ns  BIGINT   time on the host between passes in which it chose batches, ns; NULL where no mark tells
-- sampling_ns    BIGINT   the same for tokens, ns; NULL where no mark tells
--
-- Idle time of the device between the end of a pass and the begin of the next one, by the phase of the later pass. Only passes
-- of the steady state count, so no warm-up. The device could run the next pass at once if its batch was ready; the win is an
-- upper bound. What runs between passes, such as the choice of tokens, is no idle time. Passes are found by annotations or in
-- kernels (iterations.md).
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_share') AS least_share,
        max(value) FILTER (name = 'least_pass_count') AS least_pass_count
    FROM advice.threshold
    WHERE rule = 'pass_gaps'
),
summary AS (
    SELECT
        profile,
        rank_id,
        phase,
        count(*) AS pass_count,
        sum(idle_before_ns)::BIGINT AS idle_ns,
        sum(cycle_ns)::BIGINT AS cycle_ns,
        sum(scheduling_ns)::BIGINT AS scheduling_ns,
        sum(sampling_ns)::BIGINT AS sampling_ns
    FROM pass.time
    WHERE is_steady AND phase IN ('prefill', 'decode', 'mixed')
    GROUP BY profile, rank_id, phase
)
SELECT
    profile,
    rank_id,
    pass_count AS count,
    idle_ns AS time_ns,
    idle_ns AS win_ns,
    phase,
    idle_ns / cycle_ns AS idle_share,
    scheduling_ns,
    sampling_ns
FROM summary
CROSS JOIN threshold
WHERE pass_count >= least_pass_count AND idle_ns > 0 AND idle_ns >= least_share * cycle_ns
