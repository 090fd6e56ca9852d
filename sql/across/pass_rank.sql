-- One row is a rank with its passes and the time between them. The times of passes, between them, and before and behind them
-- add up to the recording on the device, from its first kernel to its last.
--
-- profile          VARCHAR  the folder, the identity of the rank
-- rank_id          INTEGER  the rank; NULL when the files name none
-- found_by         VARCHAR  what shows its passes, as in pass.instance
-- pass_count       BIGINT   passes
-- steady_count     BIGINT   of them, those of the steady state
-- warm_up_count    BIGINT   of them, those before it: the first that take much longer than others like them, and captures
-- warm_up_ns       BIGINT   their time, with what lies before each, ns
-- unknown_count    BIGINT   passes whose phase is not known
-- unknown_ns       BIGINT   their time, ns
-- dummy_count      BIGINT   passes without requests
-- recording_ns     BIGINT   the recording, ns
-- pass_ns          BIGINT   time of passes, ns
-- between_ns       BIGINT   time between passes, ns
-- idle_between_ns  BIGINT   part of it without any kernel, ns
-- edge_ns          BIGINT   time before the first pass and behind the last one, ns
WITH of_turn AS (
    SELECT
        profile,
        rank_id,
        sum(duration_ns)::BIGINT AS recording_ns,
        coalesce(sum(duration_ns) FILTER (pass_id IS NOT NULL), 0)::BIGINT AS pass_ns,
        coalesce(sum(duration_ns) FILTER (pass_id IS NULL AND next_id > 1), 0)::BIGINT AS between_ns,
        coalesce(sum(idle_ns) FILTER (pass_id IS NULL AND next_id > 1), 0)::BIGINT AS idle_between_ns,
        coalesce(sum(duration_ns) FILTER (pass_id IS NULL AND (next_id IS NULL OR next_id = 1)), 0)::BIGINT AS edge_ns
    FROM pass.turn_time
    GROUP BY profile, rank_id
),
of_pass AS (
    SELECT
        profile,
        min(found_by) AS found_by,
        count(*) AS pass_count,
        count(*) FILTER (is_steady) AS steady_count,
        count(*) FILTER (NOT coalesce(is_steady, false)) AS warm_up_count,
        coalesce(sum(cycle_ns) FILTER (NOT coalesce(is_steady, false)), 0)::BIGINT AS warm_up_ns,
        count(*) FILTER (phase IS NULL) AS unknown_count,
        coalesce(sum(duration_ns) FILTER (phase IS NULL), 0)::BIGINT AS unknown_ns,
        count(*) FILTER (phase = 'dummy') AS dummy_count
    FROM pass.time
    GROUP BY profile
)
SELECT
    of_turn.profile,
    of_turn.rank_id,
    of_pass.found_by,
    of_pass.pass_count,
    of_pass.steady_count,
    of_pass.warm_up_count,
    of_pass.warm_up_ns,
    of_pass.unknown_count,
    of_pass.unknown_ns,
    of_pass.dummy_count,
    of_turn.recording_ns,
    of_turn.pass_ns,
    of_turn.between_ns,
    of_turn.idle_between_ns,
    of_turn.edge_ns
FROM of_turn
JOIN of_pass USING (profile)
ORDER BY of_turn.rank_id NULLS LAST, of_turn.profile
