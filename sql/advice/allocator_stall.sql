-- One row is a rank on which the host allocates or frees memory of the device while the device is idle.
--
-- @title Allocating memory keeps the device waiting
-- @evidence In {count|a gap|gaps} the device is idle for {time_ns} while the host is in calls such as {call}, {most_ns} of it
--     in {most_in}
-- @kind exact cause
-- @remedy Keep the caching allocator from calling the device within steps: <<{is_expandable?|expandable_segments:True in
--     PYTORCH_NPU_ALLOC_CONF, }||{is_expandable?|expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF, }>>no empty_cache() in
--     the loop, some memory left free so that no block must be given back, and warm-up with the largest shapes.
-- @query SELECT total_ns, gap_count, call, module, rank_id FROM free.cause_of_op WHERE work = 'allocate' ORDER BY total_ns DESC
--     LIMIT 50
-- @counts host
-- @requires kernels, ops, host_calls
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- call           VARCHAR  the call that takes most of it
-- most_ns        BIGINT   the part of time_ns in the op and module that have most, ns
-- most_in        VARCHAR  this op and module
-- is_expandable  BOOLEAN  whether expandable segments are in force, so that they are not advised
--
-- Idle time in calls that allocate or free memory of the device (`aclrtMalloc`, `cudaMalloc`, `cudaFree`). The win is exact.
-- msprof-analyze lists such calls from 10 ms on, whether the device waits or not. Here only waiting counts, however short a
-- call is.
WITH call AS (
    SELECT profile, call, sum(total_ns) AS total_ns
    FROM free.cause_of_op
    WHERE work = 'allocate'
    GROUP BY profile, call
),
longest_call AS (
    SELECT profile, arg_max(call, (total_ns, call)) AS call
    FROM call
    GROUP BY profile
),
allocating AS (
    SELECT
        profile,
        rank_id,
        coalesce(op, 'no op') || ' of ' || coalesce(module, 'no module') AS place,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM free.cause_of_op
    WHERE work = 'allocate'
    GROUP BY profile, rank_id, place
),
of_rank AS (
    SELECT
        profile,
        rank_id,
        arg_max(place, (total_ns, place)) AS most_in,
        max(total_ns) AS most_ns,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM allocating
    GROUP BY profile, rank_id
)
SELECT
    profile,
    rank_id,
    gap_count AS count,
    total_ns AS time_ns,
    total_ns AS win_ns,
    coalesce(longest_call.call, 'one without a name') AS call,
    most_ns,
    most_in,
    profile IN (FROM across.expandable_rank) AS is_expandable
FROM of_rank
JOIN longest_call USING (profile)
