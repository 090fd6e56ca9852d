-- One row is a rank on which the device waits until the host has loaded data.
--
-- @title The device waits for data loading
-- @evidence In {count|a gap|gaps} the device is idle for {time_ns} while the host loads data, {between_steps_ns} of it between
--     the last kernel of a step and the first of the next
-- @kind exact cause
-- @remedy Raise num_workers and prefetch_factor of the DataLoader, with persistent_workers=True and pin_memory=True; prepare
--     data before training, and keep what the workers do light.
-- @query SELECT total_ns, gap_count, is_between_steps, rank_id FROM free.cause_of_op WHERE work = 'load data' ORDER BY total_ns
--     DESC LIMIT 50
-- @counts host
-- @requires kernels, ops
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- between_steps_ns  BIGINT  the part of time_ns between the last kernel of a step and the first of the next, ns
--
-- Idle time while the host loads data: ops `enumerate(DataLoader)...` and mstx ranges `dataloader`, also before the first
-- kernel of a step. The win is exact. It includes time in which the host waits for loading worker processes.
WITH loading AS (
    SELECT
        profile,
        rank_id,
        sum(gap_count)::BIGINT AS gap_count,
        sum(total_ns)::BIGINT AS total_ns,
        coalesce(sum(total_ns) FILTER (is_between_steps), 0)::BIGINT AS between_steps_ns
    FROM free.cause_of_op
    WHERE work = 'load data'
    GROUP BY profile, rank_id
)
SELECT
    profile,
    rank_id,
    gap_count AS count,
    total_ns AS time_ns,
    total_ns AS win_ns,
    between_steps_ns
FROM loading
