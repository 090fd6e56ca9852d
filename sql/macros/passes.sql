-- The gaps of the device, each with the stretch of pass.turn in which it lies: pass_id of a gap in a pass, next_id of one
-- before a pass, as there. Stretches of no length have no gap.
CREATE MACRO IF NOT EXISTS gaps_of_turns(gaps, turns) AS TABLE
    SELECT gap.gap_id, turn.pass_id, turn.next_id
    FROM query_table(gaps) AS gap
    ASOF JOIN (FROM query_table(turns) WHERE end_ns > start_ns) AS turn ON gap.start_ns >= turn.start_ns
    WHERE gap.end_ns <= turn.end_ns;
