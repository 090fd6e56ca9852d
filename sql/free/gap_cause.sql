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
moment AS (
    SELECT gap_id, tid, unnest(range(1, 5))::INTEGER AS things, -1 AS sign, start_ns AS at_ns
    FROM host
    WHERE asked_ns > start_ns
    UNION ALL
    SELECT gap_id, tid, unnest(range(1, 5))::INTEGER, 1, asked_ns
    FROM host
    WHERE asked_ns > start_ns
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
        unnest([
            {'cause': 'garbage collection', 'precedence': 1, 'duration_ns': within.collecting_ns},
            {
                'cause': 'waiting in a synchronise',
                'precedence': 2,
                'duration_ns': within.up_to_waiting_ns - within.collecting_ns
            },
            {'cause': 'data loading', 'precedence': 3, 'duration_ns': within.up_to_loading_ns - within.up_to_waiting_ns},
            {'cause': 'inside an op', 'precedence': 4, 'duration_ns': within.up_to_op_ns - within.up_to_loading_ns},
            {
                'cause': 'nothing recorded',
                'precedence': 5,
                'duration_ns': host.asked_ns - host.start_ns - coalesce(within.up_to_op_ns, 0)
            },
            {'cause': 'between queue and device', 'precedence': 6, 'duration_ns': host.end_ns - host.asked_ns},
            {
                'cause': 'launch not recorded',
                'precedence': 7,
                'duration_ns': if(host.asked_ns IS NULL, host.end_ns - host.start_ns, 0)
            }
        ]) AS cause
    FROM host
    LEFT JOIN within USING (gap_id)
)
SELECT gap_id, cause.cause, cause.precedence, cause.duration_ns
FROM part
WHERE cause.duration_ns > 0
