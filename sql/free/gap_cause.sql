-- One row is a gap of the device and one of its causes: what the host did for a part of the gap. The parts of a gap add up to
-- the gap.
--
-- gap_id       BIGINT   a gap of free.gap
-- cause        VARCHAR  up to the request for the next kernel, what the requesting host thread did: garbage collection, waiting
--                       in a synchronise, data loading, inside an op or nothing recorded; from the request on: between queue
--                       and device; where the requesting thread is not known: launch not recorded
-- precedence   INTEGER  order of the causes: where several apply at a time, the one with the smallest number takes precedence
-- duration_ns  BIGINT   the part of the gap, ns
--
-- The time of a cause, where no cause before it applies, is a difference: the time of this cause and those before it together,
-- minus the time of those before it. Example: in a gap of 10 us the thread waits for 4 us, all of it inside an op of 7 us. Then
-- up_to_waiting_ns is 4000 and up_to_op_ns is 7000: 4 us are waiting in a synchronise, 3 us inside an op and 3 us nothing
-- recorded.
WITH host AS (
    SELECT
        gap.gap_id,
        request.tid,
        gap.start_ns,
        -- least() and greatest() ignore NULL.
        CASE
            WHEN request.asked_ns IS NOT NULL THEN least(greatest(request.asked_ns, gap.start_ns), gap.end_ns)
        END AS asked_ns,
        gap.end_ns
    FROM free.gap
    JOIN free.request USING (gap_id)
),
-- Few threads collect garbage or load data: for what a thread never does, nothing is looked up.
thing AS (
    SELECT DISTINCT tid, things
    FROM free.host_stretch
),
moment AS (
    SELECT host.gap_id, host.tid, thing.things, -1 AS sign, host.start_ns AS at_ns
    FROM host
    JOIN thing USING (tid)
    WHERE host.asked_ns > host.start_ns
    UNION ALL
    SELECT host.gap_id, host.tid, thing.things, 1, host.asked_ns
    FROM host
    JOIN thing USING (tid)
    WHERE host.asked_ns > host.start_ns
),
-- How long, up to a moment, the thread had done any of the first `things` things of free.host_stretch.
done AS (
    SELECT
        moment.gap_id,
        moment.things,
        moment.sign * (stretch.before_ns + least(moment.at_ns, stretch.end_ns) - stretch.start_ns) AS signed_ns
    FROM moment
    ASOF JOIN free.host_stretch AS stretch
        ON stretch.tid = moment.tid AND stretch.things = moment.things AND stretch.start_ns <= moment.at_ns
),
within AS (
    SELECT
        gap_id,
        coalesce(sum(signed_ns) FILTER (things = 1), 0)::BIGINT AS collecting_ns,
        coalesce(sum(signed_ns) FILTER (things = 2), 0)::BIGINT AS up_to_waiting_ns,
        coalesce(sum(signed_ns) FILTER (things = 3), 0)::BIGINT AS up_to_loading_ns,
        coalesce(sum(signed_ns) FILTER (things = 4), 0)::BIGINT AS up_to_op_ns
    FROM done
    GROUP BY gap_id
),
part AS (
    SELECT
        host.gap_id,
        unnest(range(1, 8))::INTEGER AS precedence,
        unnest([
            within.collecting_ns,
            within.up_to_waiting_ns - within.collecting_ns,
            within.up_to_loading_ns - within.up_to_waiting_ns,
            within.up_to_op_ns - within.up_to_loading_ns,
            host.asked_ns - host.start_ns - coalesce(within.up_to_op_ns, 0),
            host.end_ns - host.asked_ns,
            if(host.asked_ns IS NULL, host.end_ns - host.start_ns, 0)
        ]) AS duration_ns
    FROM host
    LEFT JOIN within USING (gap_id)
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
        WHEN 7 THEN 'launch not recorded'
    END AS cause,
    precedence,
    duration_ns
FROM part
WHERE duration_ns > 0
