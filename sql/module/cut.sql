-- One row is a thread on which module calls were open when the recording began or ended: the profile lacks these calls, and
-- holds those directly inside them without what is around them.
--
-- @guard module.edge_call
-- @unique outermost by interval_id, tid: interval_id is unique
--
-- tid         BIGINT   host thread: process id * 2^32 + thread id
-- edge        VARCHAR  start or end of the recording
-- call_count  BIGINT   calls of module.edge_call that were inside the open ones
-- name_id     TEXT_ID  class name of the outermost of the open calls
-- start_ns    BIGINT   start of the first of these calls, Unix ns; at the start of the recording 0: all before is inside, too
-- end_ns      BIGINT   end of the last of them, Unix ns; at the end of the recording the largest number
-- is_proven   BOOLEAN  whether it is certain; else the calls can as well be of modules that are called by themselves
--
-- A whole call of a module elsewhere on the thread says what a cut leaves: at the end of the recording the calls before the
-- cut that are not around it, outermost first; at its beginning those after it. Where the outermost calls up to the edge are
-- of just these classes, in their order, they lay in an open call: it is proven where several whole calls say that no such
-- calls come between them, or where they are four or more. One call alone proves it only where the thread calls nothing but one
-- module, always with the same calls inside. Orders are compared by sums of hashes; the beginning is the end read backwards.
WITH RECURSIVE longest AS (
    SELECT tid, edge, max(distance) AS call_count
    FROM module.edge_call
    GROUP BY tid, edge
),
outermost AS (
    SELECT interval.interval_id, interval.tid, interval.name_id, interval.end_ns
    FROM module.interval
    JOIN module.interval_parent USING (interval_id)
    ANTI JOIN module.edge_call USING (interval_id)
    WHERE interval.kind = 'module' AND interval_parent.parent_id IS NULL AND interval.tid IN (SELECT tid FROM longest)
),
-- Whole calls of a class with the same calls inside are known by the first of them.
inside AS (
    SELECT
        outermost.interval_id AS whole_id,
        outermost.tid,
        outermost.name_id AS whole_name_id,
        interval.name_id,
        row_number() OVER (PARTITION BY outermost.interval_id ORDER BY interval.interval_id) AS position
    FROM module.interval
    ASOF JOIN outermost ON outermost.tid = interval.tid AND outermost.interval_id <= interval.interval_id
    WHERE interval.kind = 'module' AND covers(outermost.end_ns, interval.start_ns, interval.end_ns)
),
structure AS (
    SELECT whole_id, tid, whole_name_id, count(*) AS size, sum(hash(position, name_id)::HUGEINT) AS names
    FROM inside
    GROUP BY whole_id, tid, whole_name_id
),
whole AS (
    SELECT min(whole_id) AS whole_id, tid, whole_name_id AS name_id
    FROM structure
    GROUP BY tid, whole_name_id, size, names
),
frequency AS (
    SELECT
        tid,
        whole_name_id AS name_id,
        count(*) AS call_count,
        count(*) = sum(count(*)) OVER (PARTITION BY tid) AND count(DISTINCT (size, names)) = 1 AS is_all
    FROM structure
    GROUP BY tid, whole_name_id
),
ordered_call AS (
    SELECT
        interval.interval_id,
        interval_parent.parent_id,
        interval.name_id,
        edge.edge,
        row_number() OVER (
            PARTITION BY interval_parent.parent_id, edge.edge
            ORDER BY if(edge.edge = 'end', interval.interval_id, -interval.interval_id)
        ) AS number
    FROM module.interval
    JOIN module.interval_parent USING (interval_id)
    CROSS JOIN (VALUES ('start'), ('end')) AS edge (edge)
    WHERE interval.kind = 'module' AND interval_parent.parent_id IS NOT NULL
),
-- What a cut behind a call leaves: how many calls come before it and are not around it, and their order.
left_over AS (
    SELECT whole.whole_id, longest.tid, longest.edge, whole.name_id, longest.call_count AS most,
           whole.whole_id AS interval_id, 0::BIGINT AS before_count, 0::HUGEINT AS before_names,
           0::BIGINT AS call_count, 0::HUGEINT AS names
    FROM whole
    JOIN longest USING (tid)
    UNION ALL
    SELECT
        whole_id,
        tid,
        edge,
        name_id,
        most,
        interval_id,
        around_count + number - 1,
        around_names + coalesce(siblings, 0),
        around_count + number,
        around_names + coalesce(siblings, 0) + own
    FROM (
        SELECT
            left_over.whole_id,
            left_over.tid,
            left_over.edge,
            left_over.name_id,
            left_over.most,
            ordered_call.interval_id,
            left_over.before_count AS around_count,
            left_over.before_names AS around_names,
            ordered_call.number,
            hash(left_over.before_count + ordered_call.number, ordered_call.name_id)::HUGEINT AS own,
            sum(hash(left_over.before_count + ordered_call.number, ordered_call.name_id)::HUGEINT) OVER (
                PARTITION BY left_over.interval_id, left_over.edge
                ORDER BY ordered_call.number
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS siblings
        FROM left_over
        JOIN ordered_call ON ordered_call.parent_id = left_over.interval_id AND ordered_call.edge = left_over.edge
        WHERE left_over.before_count + ordered_call.number <= left_over.most
    )
),
wanted_cut AS (
    SELECT DISTINCT tid, edge, call_count
    FROM left_over
    WHERE call_count > 0
),
recorded_calls AS (
    SELECT
        wanted_cut.tid,
        wanted_cut.edge,
        wanted_cut.call_count,
        sum(hash(wanted_cut.call_count + 1 - edge_call.distance, edge_call.name_id)::HUGEINT) AS names
    FROM wanted_cut
    JOIN module.edge_call
        ON edge_call.tid = wanted_cut.tid AND edge_call.edge = wanted_cut.edge AND edge_call.distance <= wanted_cut.call_count
    GROUP BY wanted_cut.tid, wanted_cut.edge, wanted_cut.call_count
),
matching AS (
    SELECT
        recorded_calls.tid,
        recorded_calls.edge,
        recorded_calls.call_count,
        left_over.name_id,
        left_over.whole_id,
        if(recorded_calls.call_count = 1, frequency.is_all, frequency.call_count > 1 OR recorded_calls.call_count > 3)
            AS is_proven
    FROM recorded_calls
    JOIN left_over USING (tid, edge, call_count, names)
    JOIN frequency ON frequency.tid = left_over.tid AND frequency.name_id = left_over.name_id
    WHERE recorded_calls.call_count > 1 OR frequency.call_count > 1
),
chosen_cut AS (
    FROM matching
    QUALIFY row_number() OVER (PARTITION BY tid, edge ORDER BY is_proven DESC, call_count DESC, whole_id) = 1
)
SELECT
    chosen_cut.tid,
    chosen_cut.edge,
    chosen_cut.call_count,
    chosen_cut.name_id,
    if(chosen_cut.edge = 'start', 0, min(interval.start_ns)) AS start_ns,
    if(chosen_cut.edge = 'end', 9223372036854775807, max(interval.end_ns)) AS end_ns,
    chosen_cut.is_proven
FROM chosen_cut
JOIN module.edge_call
    ON edge_call.tid = chosen_cut.tid AND edge_call.edge = chosen_cut.edge AND edge_call.distance <= chosen_cut.call_count
JOIN module.interval USING (interval_id)
GROUP BY chosen_cut.tid, chosen_cut.edge, chosen_cut.call_count, chosen_cut.name_id, chosen_cut.is_proven
