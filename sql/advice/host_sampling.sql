-- One row is a rank of a server whose device idles between passes while the host chooses tokens or makes texts of them.
--
-- @guard pass.time
-- @title The device idles while the host chooses tokens
-- @evidence Before {count|1 pass|passes} the device idles for {time_ns} while the host chooses tokens or makes texts of them,
--     {choice_share} of the time of all passes with what lies between them; most in {most_in}
-- @kind upper bound
-- @remedy Choose tokens on the device, without functions on scores that run on the host, and let the host do the rest while the
--     next pass runs: --async-scheduling of vLLM; SGLang without --disable-overlap-schedule.
-- @query SELECT choice_ns, name_ns, name, pass_id, rank_id FROM pass.choice ORDER BY choice_ns DESC LIMIT 50
-- @counts idle
-- @requires kernels, ops | modules
-- @threshold least_share 0.02: Share of the time of all passes, with what lies between them, from which it is a finding
-- @threshold least_pass_count 10: Passes before which it is so, at least
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- choice_share  DOUBLE   time_ns / the time of all passes of the steady state with what lies before them
-- most_in       VARCHAR  the mark, Python function or op in which most of it lies
--
-- After a pass the host may choose tokens from scores (sampling, functions on logits), fetch them, and make texts of them. If
-- it launches the next pass only then, the device idles. The rule adds up idle time between passes of the steady state in
-- which a thread that launches passes is in a mark of the engine that says so (`gpu_model_runner: sample`,
-- `process_outputs`), in Python functions of files that are about it (`sampler`, `sampling`, `logits_processor`,
-- `detokenizer`, `output_processor`; needs with_stack=True) or in an op that chooses or fetches a number
-- (`aten::multinomial`, `aten::argmax`, `aten::topk`, `aten::sort`, `aten::item`). Work on other threads or in other
-- processes holds nobody up and does not count. The win is an upper bound: the host may have more to do before the next pass.
-- [pass-gaps](#pass-gaps) has all idle time between passes.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_share') AS least_share,
        max(value) FILTER (name = 'least_pass_count') AS least_pass_count
    FROM advice.threshold
    WHERE rule = 'host_sampling'
),
steady AS (
    SELECT time.profile, time.rank_id, time.cycle_ns, choice.choice_ns, choice.name, choice.name_ns
    FROM pass.time
    LEFT JOIN pass.choice ON choice.profile = time.profile AND choice.pass_id = time.pass_id
    WHERE time.is_steady
),
of_name AS (
    SELECT profile, name, sum(name_ns) AS name_ns
    FROM steady
    WHERE name IS NOT NULL
    GROUP BY profile, name
),
most_name AS (
    SELECT profile, arg_max(name, (name_ns, name)) AS name
    FROM of_name
    GROUP BY profile
),
summary AS (
    SELECT
        profile,
        rank_id,
        count(choice_ns) AS pass_count,
        coalesce(sum(choice_ns), 0)::BIGINT AS choice_ns,
        sum(cycle_ns)::BIGINT AS cycle_ns
    FROM steady
    GROUP BY profile, rank_id
)
SELECT
    summary.profile,
    summary.rank_id,
    summary.pass_count AS count,
    summary.choice_ns AS time_ns,
    summary.choice_ns AS win_ns,
    summary.choice_ns / summary.cycle_ns AS choice_share,
    coalesce(most_name.name, 'a function without a name') AS most_in
FROM summary
LEFT JOIN most_name USING (profile)
CROSS JOIN threshold
WHERE summary.pass_count >= least_pass_count AND summary.choice_ns > 0 AND summary.choice_ns >= least_share * summary.cycle_ns
