-- One row is an mstx range and the kernels that were launched inside it: by ops inside it on its thread, and by host calls
-- inside it that are outside every op. A kernel counts for each range around its launch.
--
-- range_id      BIGINT  a range of mstx.event
-- kernel_count  BIGINT  kernels
-- duration_ns   BIGINT  their time, ns
--
-- Ranges and launches are not joined, which would give all pairs. What lies in a range is what ended by its end, minus what
-- began before its start; what reaches over the whole range was subtracted without having been added, and is added again:
--     range          [-----------]        ended   begun before   around   inside
--     launches   a-a                        1          -1                   0
--                   b---b                   1          -1                   0
--                      c---c                1                             1
--                             d----d                                      0
--                e---------------------e               -1          1        0
WITH range AS (
    SELECT
        range_id,
        tid,
        start_ns,
        start_ns + duration_ns AS end_ns,
        row_number() OVER (PARTITION BY tid ORDER BY start_ns, range_id) AS position
    FROM mstx.event
    WHERE kind = 'range'
),
ended_launches AS (
    SELECT
        tid,
        end_ns,
        sum(sum(kernel_count)) OVER by_end AS kernel_count,
        sum(sum(duration_ns)) OVER by_end AS duration_ns
    FROM mstx.launch
    GROUP BY tid, end_ns
    WINDOW by_end AS (PARTITION BY tid ORDER BY end_ns ROWS UNBOUNDED PRECEDING)
),
begun_launches AS (
    SELECT
        tid,
        start_ns,
        sum(sum(kernel_count)) OVER by_start AS kernel_count,
        sum(sum(duration_ns)) OVER by_start AS duration_ns
    FROM mstx.launch
    GROUP BY tid, start_ns
    WINDOW by_start AS (PARTITION BY tid ORDER BY start_ns ROWS UNBOUNDED PRECEDING)
),
last_of_start AS (
    SELECT tid, start_ns, max(position) AS position
    FROM range
    GROUP BY tid, start_ns
),
-- Ranges that begin while a launch runs: most launches have none.
reaching AS (
    SELECT launch.*, coalesce(before.position, 0) AS first_position, within.position AS last_position
    FROM mstx.launch
    ASOF JOIN last_of_start AS within ON within.tid = launch.tid AND within.start_ns < launch.end_ns
    ASOF LEFT JOIN last_of_start AS before ON before.tid = launch.tid AND before.start_ns <= launch.start_ns
    WHERE within.position > coalesce(before.position, 0)
),
around AS (
    SELECT range.range_id, sum(pair.kernel_count) AS kernel_count, sum(pair.duration_ns) AS duration_ns
    FROM (SELECT *, unnest(range(first_position + 1, last_position + 1)) AS position FROM reaching) AS pair
    JOIN range USING (tid, position)
    WHERE range.end_ns < pair.end_ns
    GROUP BY range.range_id
)
SELECT
    range.range_id,
    (
        coalesce(ended_launches.kernel_count, 0) - coalesce(begun_launches.kernel_count, 0) + coalesce(around.kernel_count, 0)
    )::BIGINT AS kernel_count,
    (
        coalesce(ended_launches.duration_ns, 0) - coalesce(begun_launches.duration_ns, 0) + coalesce(around.duration_ns, 0)
    )::BIGINT AS duration_ns
FROM range
ASOF LEFT JOIN ended_launches ON ended_launches.tid = range.tid AND ended_launches.end_ns <= range.end_ns
ASOF LEFT JOIN begun_launches ON begun_launches.tid = range.tid AND begun_launches.start_ns < range.start_ns
LEFT JOIN around USING (range_id)
