-- One row is a gap of the device and one of its causes: what the host did for a part of the gap. The parts of a gap add up to
-- it.
--
-- gap_id       BIGINT   a gap of free.gap
-- cause        VARCHAR  garbage collection, waiting in a synchronise, data loading, inside an op or nothing recorded, all of
--                       the thread that asked for the next kernel, up to when it asked; between queue and device from then on;
--                       launch not recorded where nothing tells which thread asked
-- precedence   INTEGER  position of the cause: where several hold at a time, the first counts
-- duration_ns  BIGINT   the part of the gap, ns
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
-- How long the thread had done these things up to a moment.
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
        coalesce(sum(signed_ns) FILTER (things = 1), 0)::BIGINT AS one_ns,
        coalesce(sum(signed_ns) FILTER (things = 2), 0)::BIGINT AS two_ns,
        coalesce(sum(signed_ns) FILTER (things = 3), 0)::BIGINT AS three_ns,
        coalesce(sum(signed_ns) FILTER (things = 4), 0)::BIGINT AS four_ns
    FROM done
    GROUP BY gap_id
),
part AS (
    SELECT
        host.gap_id,
        unnest([
            {'cause': 'garbage collection', 'precedence': 1, 'duration_ns': within.one_ns},
            {'cause': 'waiting in a synchronise', 'precedence': 2, 'duration_ns': within.two_ns - within.one_ns},
            {'cause': 'data loading', 'precedence': 3, 'duration_ns': within.three_ns - within.two_ns},
            {'cause': 'inside an op', 'precedence': 4, 'duration_ns': within.four_ns - within.three_ns},
            {
                'cause': 'nothing recorded',
                'precedence': 5,
                'duration_ns': host.asked_ns - host.start_ns - coalesce(within.four_ns, 0)
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
