-- One row is a rank in timelines: the process that it is there, and the moment from which times count.
--
-- profile         VARCHAR  folder of the rank, below the path that was opened
-- rank_id         INTEGER  rank; NULL when not recorded
-- process_id      BIGINT   number of its process, counted from 1 in the order of the ranks
-- base_ns         BIGINT   the moment from which times count in the timelines of all ranks, Unix ns: 1 to 2 us before the first
--                          event of any of them, by the clocks of their hosts
-- host_offset_ns  BIGINT   added to times of the host, so that they and those of the device are of one clock: clock.offset, ns
WITH kernel AS (
    SELECT profile, rank_id, min(start_ns) AS start_ns
    FROM timeline.kernel
    GROUP BY profile, rank_id
),
rank AS (
    SELECT kernel.profile, kernel.rank_id, kernel.start_ns, coalesce(clock.offset_ns, 0) AS host_offset_ns
    FROM kernel
    LEFT JOIN clock.offset AS clock USING (profile)
),
first_event AS (
    SELECT
        least(
            (SELECT min(start_ns) FROM rank),
            (SELECT min(time_ns) FROM timeline.counter),
            (
                SELECT min(track.first_start_ns + rank.host_offset_ns)
                FROM timeline.host_track AS track
                JOIN rank USING (profile)
            )
        ) AS start_ns
)
SELECT
    rank.profile,
    rank.rank_id,
    row_number() OVER (ORDER BY rank.rank_id NULLS LAST, rank.profile) AS process_id,
    first_event.start_ns // 1000 * 1000 - 1000 AS base_ns,
    rank.host_offset_ns
FROM rank
CROSS JOIN first_event
ORDER BY process_id
