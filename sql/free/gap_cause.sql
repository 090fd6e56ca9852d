-- One row is a gap of the device and one of its causes: what the host did for a part of the gap. The parts of a gap add up to
-- it.
--
-- gap_id       BIGINT   a gap of free.gap
-- cause        VARCHAR  garbage collection, waiting in a synchronise, data loading, inside an op or nothing recorded, all of
--                       the thread that asked for the next kernel, up to when it asked; between queue and device from then on;
--                       launch not recorded where nothing tells which thread asked
-- precedence   INTEGER  position of the cause: where several hold at a time, the first counts
-- duration_ns  BIGINT   the part of the gap, ns
--
-- What the thread did of one thing and of none before it is the time of both together less that of those before it. Of a gap of
-- 10 us in which it waits for 4 us, all of them inside an op of 7 us, up_to_waiting_ns is 4000 and up_to_op_ns 7000: 4 us are
-- waiting in a synchronise, 3 us inside an op and 3 us nothing recorded.
WITH host AS (
    SELECT
        gap.gap_id,
        request.tid,
        gap.start_ns,
        -- least() and greatest() pass over NULL.
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
-- How long the thread had done one of the first so many things of free.host_stretch up to a moment.
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
