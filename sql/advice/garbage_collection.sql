-- One row is a rank on which Python's garbage collector stops the host while the device is idle, or may do so where collections
-- are not recorded.
--
-- @title (is_recorded) Garbage collection stops the host
-- @title Garbage collection may stop the host: collections are not recorded
-- @evidence (is_recorded) In {count|a gap|gaps} the device is idle for {time_ns} while Python collects garbage: {idle_share} of
--     its idle time
-- @evidence In {count|a gap|gaps} nothing is recorded on the host for {time_ns}, {least_ns} or more at a time, as in
--     collections of a large program
-- @kind (is_recorded) exact cause
-- @kind hint
-- @remedy (is_recorded) Call gc.freeze() after start-up and gc.disable(), or collect between steps alone with gc.collect();
--     raise gc.set_threshold() where memory allows.
-- @remedy <<Record collections (gc_detect_threshold), or run||Run>> once with gc.disable() and compare.
-- @query (is_recorded) SELECT total_ns, gap_count, rank_id FROM free.cause_of_op WHERE work = 'collect garbage' ORDER BY
--     total_ns DESC LIMIT 50
-- @query SELECT cause_ns, duration_ns, kernel_after, rank_id FROM free.longest_gap WHERE cause = 'nothing recorded' ORDER BY
--     cause_ns DESC LIMIT 50
-- @counts host
-- @requires kernels, ops
-- @threshold least_gap_count 1: Gaps of the device in which the garbage collector must have run
-- @threshold least_unrecorded_ns 100000000 ns: From how long a gap without any record may be a collection that was not
--     recorded; acts as the next power of ten
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- is_recorded  BOOLEAN  whether collections are recorded
-- idle_share   DOUBLE   time_ns / idle time of the device
-- least_ns     DOUBLE   the threshold least_unrecorded_ns
--
-- Idle time during recorded runs of Python's collector (`gc_detect_threshold`). The win is exact. If none are recorded, gaps in
-- which the host records nothing for 100 ms or more (`garbage_collection.least_unrecorded_ns`) give a hint without a win: they
-- may be collections. msprof-analyze guesses in the same way, from 200 ms on. The time of the hint is also in
-- python-between-ops, as a bound.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_gap_count') AS least_gap_count,
        max(value) FILTER (name = 'least_unrecorded_ns') AS least_unrecorded_ns
    FROM advice.threshold
    WHERE rule = 'garbage_collection'
),
collecting AS (
    SELECT profile, rank_id, true AS is_recorded, sum(gap_count)::BIGINT AS gap_count, sum(total_ns)::BIGINT AS total_ns
    FROM free.cause_of_op
    WHERE work = 'collect garbage'
    GROUP BY profile, rank_id
    UNION ALL
    SELECT profile, rank_id, false, sum(gap_count)::BIGINT, sum(total_ns)::BIGINT
    FROM free.cause_of_op
    CROSS JOIN threshold
    WHERE work = 'between ops'
        AND decade_ns >= threshold.least_unrecorded_ns
        AND profile IN (SELECT profile FROM free.unknown_cause WHERE cause = 'garbage collection')
    GROUP BY profile, rank_id
),
idle AS (
    SELECT profile, sum(total_ns) AS total_ns
    FROM free.cause_of_op
    GROUP BY profile
)
SELECT
    collecting.profile,
    collecting.rank_id,
    gap_count AS count,
    collecting.total_ns AS time_ns,
    if(is_recorded, collecting.total_ns, NULL) AS win_ns,
    is_recorded,
    collecting.total_ns / idle.total_ns AS idle_share,
    threshold.least_unrecorded_ns AS least_ns
FROM collecting
JOIN idle USING (profile)
CROSS JOIN threshold
WHERE gap_count >= least_gap_count
