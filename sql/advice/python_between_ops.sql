-- One row is a module of a rank in which the host does something between ops for long while the device has no work, or the
-- other modules together, in which it costs little.
--
-- @title (is_between_steps) Python keeps the host busy between steps
-- @title Python keeps the host busy between ops
-- @evidence The device is idle for {time_ns} in {count|a part of a gap|parts of gaps} while the host runs no op for long[;
--     {most_ns} of it in {most_in}]
-- @kind upper bound
-- @remedy Do what needs no result of the device (scheduling, logging, tokenising, building inputs) in another thread, or while
--     the device still has work. Record with_stack=True: `prof-analysis free-time` then shows the functions behind the longest
--     gaps.
-- @query SELECT total_ns, gap_count, decade_ns, module, rank_id FROM free.cause_of_op WHERE work = 'between ops' ORDER BY
--     total_ns DESC LIMIT 50
-- @counts host
-- @requires kernels, ops
-- @threshold least_module_share 0.05: Share of the step from which such time in a module is a finding of its own
--
-- @columns profile to rank_id, module, count to win_ns as in advice.finding_of_rank
-- is_between_steps  BOOLEAN  whether it lies between the last kernel of a step and the first of the next
-- most_ns           BIGINT   the part of time_ns in the module that has most, ns; NULL where the finding is about one
-- most_in           VARCHAR  this module
--
-- Idle time of late gaps in which the host is in no op for 100 us or more of the gap (`launch_bound.long_ns`), within steps and
-- between two steps. A module has its own finding from 5 % of the step on (`python_between_ops.least_module_share`). The win is
-- an upper bound: the host may do necessary work in this time that nobody recorded.
WITH threshold AS (
    SELECT
        max(value) FILTER (rule = 'launch_bound' AND name = 'long_ns') AS long_ns,
        max(value) FILTER (rule = 'python_between_ops' AND name = 'least_module_share') AS least_module_share
    FROM advice.threshold
),
python AS (
    SELECT
        profile,
        rank_id,
        is_between_steps,
        module,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM free.cause_of_op
    CROSS JOIN threshold
    WHERE work = 'between ops' AND decade_ns >= threshold.long_ns
    GROUP BY profile, rank_id, is_between_steps, module
),
of_rank AS (
    SELECT
        profile,
        python.rank_id,
        is_between_steps,
        if(total_ns >= rank_step.duration_ns * threshold.least_module_share, module, NULL) AS module,
        arg_max(coalesce(module, 'code outside modules'), (total_ns, module)) AS most_in,
        max(total_ns) AS most_ns,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM python
    JOIN across.rank_step USING (profile)
    CROSS JOIN threshold
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    module,
    gap_count AS count,
    total_ns AS time_ns,
    total_ns AS win_ns,
    is_between_steps,
    if(module IS NULL, most_ns, NULL) AS most_ns,
    most_in
FROM of_rank
