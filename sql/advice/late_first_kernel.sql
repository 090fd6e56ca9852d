-- One row is a rank whose host works long before it first launches a kernel in the recording.
--
-- @title The host works long before the first kernel
-- @evidence The host works for {time_ns} before it first launches a kernel, {late_share} of this and the time of the steps on
--     the device together[; {op_ns} of it are in {longest_op}][; {frame_ns} are in {frame}]
-- @kind hint
-- @remedy Prepare the input before it is needed: in workers of the DataLoader, in another process (tokenising, decoding of
--     images), or for the next step while the device computes. Where it is work of the first step alone (compiling, loading of
--     weights, warm-up), record later steps.
-- @query SELECT duration_ns, op_ns, frame_ns, op, frame FROM free.before_first_kernel ORDER BY duration_ns DESC LIMIT 20
-- @counts none
-- @requires kernels, ops, host_calls
-- @threshold least_ns 1000000 ns: From how long on
-- @threshold least_share 0.1: Share of the time up to the end of the device
--
-- @columns profile to rank_id, time_ns as in advice.finding_of_rank
-- late_share  DOUBLE   share of it and the time of the steps on the device together
-- step_id     BIGINT   the first step; NULL without steps
-- longest_op  VARCHAR  the outermost op with the most time in it; NULL where no op runs
-- op_ns       BIGINT   its time there, ns
-- frame       VARCHAR  the innermost call of a Python function that lasts for half of the time or more; NULL without one
-- frame_ns    BIGINT   its time there, ns
--
-- The time from the start of the first step on the host, or of the first op of a recording without steps, to the first launch,
-- behind the last call that waits for the device, if it is 1 ms or more (`late_first_kernel.least_ns`) and 10 % of itself and
-- the time of all steps on the device (`late_first_kernel.least_share`): preprocessing, tokenising, loading. Of later steps,
-- idle time before the first kernel is that of the gap before it, which other rules explain. The finding is a hint: the time is
-- no part of the time of steps on the device, of which shares are.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'least_ns') AS least_ns,
        max(value) FILTER (name = 'least_share') AS least_share
    FROM advice.threshold
    WHERE rule = 'late_first_kernel'
)
SELECT
    before.profile,
    before.rank_id,
    before.duration_ns AS time_ns,
    before.duration_ns / (before.duration_ns + rank_step.duration_ns) AS late_share,
    before.step_id,
    before.op AS longest_op,
    before.op_ns,
    before.frame,
    before.frame_ns
FROM free.before_first_kernel AS before
JOIN across.rank_step USING (profile)
CROSS JOIN threshold
WHERE before.duration_ns >= threshold.least_ns
    AND before.duration_ns >= threshold.least_share * (before.duration_ns + rank_step.duration_ns)
