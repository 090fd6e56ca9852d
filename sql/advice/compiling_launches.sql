-- One row is a rank whose host compiles ops, or looks them up among compiled ones, at many launches.
-- Requires kernels, ops, host_calls.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_calls') AS least_calls
    FROM advice.threshold
    WHERE rule = 'compiling_launches'
),
-- Of calls inside calls, those around all others take longest.
compiling AS (
    SELECT
        profile,
        arg_max(name, (total_ns, name)) AS name,
        arg_max(calls, (total_ns, name)) AS calls,
        max(total_ns) AS total_ns,
        arg_max(idle_ns, (total_ns, name)) AS idle_ns
    FROM api.statistic
    WHERE role = 'compile'
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
    'Launches compile or look up ops one by one' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        'The host is in {} for {}, in {} calls; the device is idle for {} during them, and waits for the host for {} in all',
        compiling.name,
        shown_time(compiling.total_ns),
        compiling.calls,
        shown_time(compiling.idle_ns),
        shown_time(idle.total_ns)
    ) AS evidence,
    compiling.calls AS count,
    compiling.total_ns AS time_ns,
    least(compiling.total_ns, idle.total_ns) AS win_ns,
    'upper bound' AS kind,
    'Let prebuilt kernels run: before the model is made call torch.npu.set_compile_mode(jit_compile=False), which NPUs before '
    || 'Atlas A2 do not have by default, and set torch.npu.config.allow_internal_format = False. Where both are so already, '
    || 'replace the ops in which the calls lie.' AS what_to_do,
    'docs/rules.md#compiling-launches' AS doc,
    'SELECT total_ns, idle_ns, calls, name, rank_id FROM api.statistic WHERE role = ''compile'' '
    || 'ORDER BY total_ns DESC LIMIT 20' AS sql
FROM compiling
JOIN idle ON idle.profile = compiling.profile
JOIN across.rank_step AS rank_step ON rank_step.profile = compiling.profile
CROSS JOIN threshold
WHERE compiling.calls >= threshold.least_calls * rank_step.step_count AND compiling.idle_ns > 0
