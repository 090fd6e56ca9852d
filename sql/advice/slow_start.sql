-- One row is a rank whose device is slow to start kernels that the host has launched.
--
-- @title The device starts launched kernels late
-- @evidence In {count|a gap|gaps} the device is idle for {time_ns}, {mean_ns} at a time, after the host had launched the next
--     kernel[; {waiting_ns} of it waits for another stream or event][; {unknown_ns} of it is no start, and what it waits for is
--     not recorded]
-- @kind hint
-- @remedy Record once without hardware counters and memory<< (aic_metrics AiCoreNone, Level0)||>>: where the gaps go, they
--     are the cost of recording. Else see in a timeline what runs in them: copies, waiting for events of other streams, tasks
--     that are no kernels.
-- @query SELECT total_ns, gap_count, cause, rank_id FROM free.cause_of_op WHERE work IS NULL AND cause IN ('between queue and
--     device', 'waiting for another stream or event', 'unknown after the launch') ORDER BY total_ns DESC LIMIT 20
-- @counts none
-- @requires kernels, ops, host_calls
-- @threshold least_gap_count 20: Such gaps in a step
-- @threshold least_ns 10000 ns: From how long a gap is long before a kernel that was launched in time: the device starts it
--     within 1 to 5 us; acts as the next power of ten
-- @threshold least_share 0.05: Share of the step that waits behind launches must have if gaps are fewer
--
-- @columns profile to rank_id, count to time_ns as in advice.finding_of_rank
-- mean_ns     DOUBLE  mean idle time of a gap, ns
-- waiting_ns  BIGINT  the part of time_ns that waits for another stream or event, ns; NULL without any
-- unknown_ns  BIGINT  the part of which it is not recorded what it waits for, ns; NULL without any
--
-- Gaps of 10 us or more (`slow_start.least_ns`) although the host had launched the next kernel, 20 or more in a step
-- (`slow_start.least_gap_count`). Usually the device starts it within 1 to 5 us. On NPUs, recording of hardware counters
-- (`aic_metrics`) makes such gaps itself: 90 us before each kernel of AlexNet on 910B. Fewer gaps count too if waits after
-- launches, other than the usual start, take 5 % of the step (`slow_start.least_share`). They are waits for another stream or
-- event if that is recorded, or else for an unknown reason. The finding is a hint: the profile does not record what the device
-- does in them.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_ns') AS least_ns,
        max(value) FILTER (name = 'least_gap_count') AS least_gap_count,
        max(value) FILTER (name = 'least_share') AS least_share
    FROM advice.threshold
    WHERE rule = 'slow_start'
),
starting_rank AS (
    SELECT
        profile,
        rank_id,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns,
        coalesce(sum(total_ns) FILTER (cause = 'waiting for another stream or event'), 0)::BIGINT AS waiting_ns,
        coalesce(sum(total_ns) FILTER (cause = 'unknown after the launch'), 0)::BIGINT AS unknown_ns
    FROM free.cause_of_op
    CROSS JOIN threshold
    WHERE cause IN ('between queue and device', 'waiting for another stream or event', 'unknown after the launch')
        AND work IS NULL
        AND decade_ns >= threshold.least_ns
    GROUP BY profile, rank_id
)
SELECT
    starting_rank.profile,
    starting_rank.rank_id,
    starting_rank.gap_count AS count,
    starting_rank.total_ns AS time_ns,
    starting_rank.total_ns / starting_rank.gap_count AS mean_ns,
    nullif(starting_rank.waiting_ns, 0) AS waiting_ns,
    nullif(starting_rank.unknown_ns, 0) AS unknown_ns
FROM starting_rank
JOIN across.rank_step USING (profile)
CROSS JOIN threshold
WHERE starting_rank.gap_count >= threshold.least_gap_count * rank_step.step_count
    OR starting_rank.waiting_ns + starting_rank.unknown_ns >= threshold.least_share * rank_step.duration_ns
