-- One row is a gap of the device and one of its causes: the activity of the host for a part of the gap. The parts of a gap add
-- up to the gap.
--
-- gap_id       BIGINT   a gap of free.gap
-- cause        VARCHAR  up to the request for the next kernel, what the requesting host thread did: garbage collection, waiting
--                       in a synchronise, data loading, inside an op or nothing recorded; from the request on: between queue
--                       and device; behind a launch, where the device does not start the kernel for long: waiting for another
--                       stream or event, or unknown after the launch; where the requesting thread is not known: launch not
--                       recorded; what none of the host's own work explains at an idle beginning or end of the recording
--                       (free.edge): edge of the recording
-- precedence   INTEGER  order of the causes: where several apply at a time, the one with the smallest number takes precedence
-- duration_ns  BIGINT   the part of the gap, ns
--
-- The time of a cause, where no cause before it applies, is a difference: the time of this cause and those before it together,
-- minus the time of those before it. Example: in a gap of 10 us the thread waits for 4 us, all of it inside an op of 7 us. Then
-- up_to_waiting_ns is 4000 and up_to_op_ns is 7000: 4 us are waiting in a synchronise, 3 us inside an op and 3 us nothing
-- recorded.
WITH asking AS (
    SELECT gap_id AS key, tid, start_ns, end_ns
    FROM free.host_phase
    WHERE phase = 1
),
stretch AS (
    SELECT things AS list, tid, start_ns, end_ns, before_ns
    FROM free.host_stretch
),
within AS (
    SELECT
        key AS gap_id,
        end_ns - start_ns AS duration_ns,
        covered_1 AS collecting_ns,
        covered_2 AS up_to_waiting_ns,
        covered_3 AS up_to_loading_ns,
        covered_4 AS up_to_op_ns
    FROM covered_phases(asking, stretch)
),
from_request AS (
    SELECT
        gap_id,
        CASE cause
            WHEN 'between queue and device' THEN 6
            WHEN 'waiting for another stream or event' THEN 7
            WHEN 'unknown after the launch' THEN 8
            WHEN 'launch not recorded' THEN 9
        END AS precedence,
        end_ns - start_ns AS duration_ns
    FROM free.host_phase
    WHERE phase > 1
),
part AS (
    SELECT
        gap_id,
        unnest(range(1, 6))::INTEGER AS precedence,
        unnest([
            collecting_ns,
            up_to_waiting_ns - collecting_ns,
            up_to_loading_ns - up_to_waiting_ns,
            up_to_op_ns - up_to_loading_ns,
            duration_ns - up_to_op_ns
        ]) AS duration_ns
    FROM within
    UNION ALL
    SELECT gap_id, precedence, sum(duration_ns)::BIGINT
    FROM from_request
    GROUP BY gap_id, precedence
),
-- Few gaps are an edge of the recording.
placed_part AS (
    SELECT
        part.gap_id,
        if(edge.gap_id IS NOT NULL AND part.precedence IN (5, 7, 8, 9), 10, part.precedence) AS precedence,
        part.duration_ns
    FROM part
    LEFT JOIN free.edge USING (gap_id)
    WHERE part.duration_ns > 0
),
merged_part AS (
    FROM placed_part
    WHERE precedence < 10
    UNION ALL
    SELECT gap_id, precedence, sum(duration_ns)::BIGINT
    FROM placed_part
    WHERE precedence = 10
    GROUP BY gap_id, precedence
)
-- The name of a part comes last: to unnest names with the times takes four times as long.
SELECT
    gap_id,
    CASE precedence
        WHEN 1 THEN 'garbage collection'
        WHEN 2 THEN 'waiting in a synchronise'
        WHEN 3 THEN 'data loading'
        WHEN 4 THEN 'inside an op'
        WHEN 5 THEN 'nothing recorded'
        WHEN 6 THEN 'between queue and device'
        WHEN 7 THEN 'waiting for another stream or event'
        WHEN 8 THEN 'unknown after the launch'
        WHEN 9 THEN 'launch not recorded'
        WHEN 10 THEN 'edge of the recording'
    END AS cause,
    precedence,
    duration_ns
FROM merged_part
