-- One row is a module of a rank in which the host does something between ops for long while the device has no work, or the
-- other modules together, in which it costs little.
--
-- @title (is_between_steps) Python keeps the host busy between steps
-- @title Python keeps the host busy between ops
-- @evidence The device is idle for {time_ns} in {count|a part of a gap|parts of gaps} while the host runs no op for long[;
--     {most_ns} of it in {most_in}][; {function_ns} of it in {function}]
-- @kind upper bound
-- @remedy (no function) Do what needs no result of the device (scheduling, logging, tokenising, building inputs) in another
--     thread, or while the device still has work. Record with_stack=True: then this finding names the function.
-- @remedy Do what needs no result of the device (scheduling, logging, tokenising, building inputs) in another thread, or while
--     the device still has work. `prof-analysis free-time` shows the functions around, for the longest gaps.
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
-- function          VARCHAR  the Python function in which the host is for most of it; NULL where the profile has no calls of
--                            Python
-- function_ns       BIGINT   the part of time_ns in that function, ns; NULL as function
--
-- Idle time of late gaps in which the host is in no op for 100 us or more of the gap (`launch_bound.long_ns`), within steps and
-- between two steps; where calls of Python are recorded (`with_stack`), the function that lasts for half of it or more. A
-- module has its own finding from 5 % of the step on (`python_between_ops.least_module_share`). The win is an upper bound: the
-- host may do necessary work in this time that nobody recorded.
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
        function,
        gap_count,
        total_ns
    FROM free.cause_of_op
    CROSS JOIN threshold
    WHERE work = 'between ops' AND decade_ns >= threshold.long_ns
),
by_module AS (
    SELECT
        profile,
        rank_id,
        is_between_steps,
        module,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM python
    GROUP BY profile, rank_id, is_between_steps, module
),
placed_module AS (
    SELECT
        by_module.*,
        if(total_ns >= rank_step.duration_ns * threshold.least_module_share, module, NULL) AS found_in
    FROM by_module
    JOIN across.rank_step USING (profile)
    CROSS JOIN threshold
),
of_rank AS (
    SELECT
        profile,
        rank_id,
        is_between_steps,
        found_in AS module,
        arg_max(coalesce(module, 'code outside modules'), (total_ns, module)) AS most_in,
        max(total_ns) AS most_ns,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns
    FROM placed_module
    GROUP BY profile, rank_id, is_between_steps, found_in
),
by_function AS (
    SELECT
        python.profile,
        python.is_between_steps,
        placed_module.found_in AS module,
        python.function,
        sum(python.total_ns)::BIGINT AS total_ns
    FROM python
    JOIN placed_module
        ON placed_module.profile = python.profile
        AND placed_module.is_between_steps = python.is_between_steps
        AND placed_module.module IS NOT DISTINCT FROM python.module
    WHERE python.function IS NOT NULL
    GROUP BY python.profile, python.is_between_steps, placed_module.found_in, python.function
),
longest_function AS (
    SELECT
        profile,
        is_between_steps,
        module,
        arg_max(function, (total_ns, function)) AS function,
        max(total_ns) AS total_ns
    FROM by_function
    GROUP BY profile, is_between_steps, module
)
SELECT
    of_rank.profile,
    of_rank.rank_id,
    of_rank.module,
    of_rank.gap_count AS count,
    of_rank.total_ns AS time_ns,
    of_rank.total_ns AS win_ns,
    of_rank.is_between_steps,
    if(of_rank.module IS NULL, of_rank.most_ns, NULL) AS most_ns,
    of_rank.most_in,
    longest_function.function,
    longest_function.total_ns AS function_ns
FROM of_rank
LEFT JOIN longest_function
    ON longest_function.profile = of_rank.profile
    AND longest_function.is_between_steps = of_rank.is_between_steps
    AND longest_function.module IS NOT DISTINCT FROM of_rank.module
