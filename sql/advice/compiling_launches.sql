-- One row is a rank whose host compiles ops, or looks them up among compiled ones, at many launches.
--
-- @guard api.compiling
-- @title Launches compile or look up ops one by one
-- @evidence The host is in {call} for {time_ns}, in {count} calls; the device is idle for {idle_ns} during them, and waits for
--     the host for {waiting_ns} in all
-- @kind upper bound
-- @remedy Let prebuilt kernels run: before the model is made call torch.npu.set_compile_mode(jit_compile=False), which NPUs
--     before Atlas A2 do not have by default, and set torch.npu.config.allow_internal_format = False. Where both are so
--     already, replace the ops in which the calls lie.
-- @query SELECT total_ns, idle_ns, calls, name, rank_id FROM api.statistic WHERE role = 'compile' ORDER BY total_ns DESC LIMIT
--     20
-- @counts idle
-- @requires kernels, ops, host_calls
-- @threshold least_calls 20: Calls in a step, as msprof-analyze has it for the whole recording
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- call        VARCHAR  the call that compiles, or looks up what is compiled
-- idle_ns     BIGINT   idle time of the device during these calls, ns
-- waiting_ns  BIGINT   idle time in which the device waits for calls and ops of the host, ns
--
-- The host compiles ops, or looks them up among compiled ones, at many launches (`aclopCompileAndExecute`): at least 20 calls
-- in a step, the threshold of msprof-analyze. Without these calls the host is earlier by at most their time, and a faster host
-- wins at most the time in which the device waits for it. The win is the smaller of both, an upper bound.
-- [op-compilation](#op-compilation) reports the compile calls that certainly keep the device idle, with an exact time.
-- `torch.npu.set_compile_mode(jit_compile=False)` is the default on Atlas A2 and later, not on Atlas training devices (910A).
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_calls') AS least_calls
    FROM advice.threshold
    WHERE rule = 'compiling_launches'
),
-- Of calls inside calls, those around all others take longest.
compiling_call AS (
    SELECT
        profile,
        arg_max(name, (total_ns, name)) AS name,
        arg_max(calls, (total_ns, name)) AS calls,
        max(total_ns) AS total_ns,
        arg_max(idle_ns, (total_ns, name)) AS idle_ns
    FROM api.compiling
    GROUP BY profile
),
-- What of its idle time the device waits for calls and ops of the host: not where the next kernel was launched long before.
idle AS (
    SELECT profile, sum(total_ns)::BIGINT AS total_ns
    FROM free.cause_of_op
    WHERE work NOT IN ('collect garbage', 'load data') AND NOT is_between_steps
    GROUP BY profile
)
-- Without these calls the host is earlier by their time at most; and a faster host wins no more than the device waits for it.
SELECT
    rank_step.profile,
    rank_step.rank_id,
    compiling_call.calls AS count,
    compiling_call.total_ns AS time_ns,
    least(compiling_call.total_ns, idle.total_ns) AS win_ns,
    compiling_call.name AS call,
    compiling_call.idle_ns,
    idle.total_ns AS waiting_ns
FROM compiling_call
JOIN idle ON idle.profile = compiling_call.profile
JOIN across.rank_step AS rank_step ON rank_step.profile = compiling_call.profile
CROSS JOIN threshold
WHERE compiling_call.calls >= threshold.least_calls * rank_step.step_count AND compiling_call.idle_ns > 0
