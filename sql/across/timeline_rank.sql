-- One row is a rank in timelines: the process that it is there, and the moment from which times count.
--
-- profile  VARCHAR  folder of the rank, below the path that was opened
-- rank_id  INTEGER  rank; NULL when not recorded
-- pid      BIGINT   number of its process, counted from 1 in the order of the ranks
-- base_ns  BIGINT   the moment from which times count in the timelines of all ranks, Unix ns: 1 to 2 us before the first event
--                   of any of them, by the clocks of their hosts
WITH start AS (
    SELECT profile, rank_id, min(start_ns) AS start_ns
    FROM timeline.kernel
    GROUP BY profile, rank_id
),
first_event AS (
    SELECT least((SELECT min(start_ns) FROM start), (SELECT min(time_ns) FROM timeline.counter)) AS start_ns
)
SELECT
    start.profile,
    start.rank_id,
    row_number() OVER (ORDER BY start.rank_id NULLS LAST, start.profile) AS pid,
    first_event.start_ns // 1000 * 1000 - 1000 AS base_ns
FROM start
CROSS JOIN first_event
ORDER BY pid
