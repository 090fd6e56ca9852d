-- One row is a doubtful launch and the op that the host's intervals prove for it: the launch lies inside a task that a queue
-- thread ran, and the same task was put into the queue inside the op; without a task queue, the launch lies inside the op
-- itself.
--
-- @guard module.doubtful_launch
-- @unique request by start_ns, tid: of the request only the start is read
-- @unique op by start_ns, tid: an op that shares its start is not taken from this join
--
-- launch_id   BIGINT   a launch of module.doubtful_launch
-- is_on_host  BOOLEAN  whether the profile holds the launch's call on the host
-- op_id       BIGINT   the innermost op around it; NULL without one
--
-- A join on containment gives the same rows, and is the oracle in the tests, but its
-- cost grows with the square of the launches.
WITH RECURSIVE host_call AS (
    SELECT doubtful.launch_id, launch.tid, min(launch.start_ns) AS start_ns, max(launch.end_ns) AS end_ns
    FROM module.doubtful_launch AS doubtful
    LEFT JOIN trace.launch USING (launch_id)
    GROUP BY doubtful.launch_id, launch.tid
),
last_dequeued AS (
    SELECT dequeue_tid, dequeue_start_ns, arg_max(queue_id, (dequeue_end_ns, queue_id)) AS queue_id
    FROM trace.queue
    GROUP BY dequeue_tid, dequeue_start_ns
),
-- When the op's own thread requested the launch: when it put the task into the queue, or without a queue the launch itself.
request AS (
    SELECT
        host_call.launch_id,
        coalesce(queue.enqueue_tid, host_call.tid) AS tid,
        coalesce(queue.enqueue_start_ns, host_call.start_ns) AS start_ns,
        coalesce(queue.enqueue_end_ns, host_call.end_ns) AS end_ns
    FROM host_call
    ASOF LEFT JOIN last_dequeued
        ON last_dequeued.dequeue_tid = host_call.tid AND last_dequeued.dequeue_start_ns <= host_call.start_ns
    LEFT JOIN trace.queue
        ON queue.queue_id = last_dequeued.queue_id
        AND queue.dequeue_tid = host_call.tid
        AND queue.dequeue_end_ns >= host_call.end_ns
    WHERE host_call.tid IS NOT NULL
),
-- The ops in which a request starts: few, where few launches are doubtful.
op AS (
    SELECT op.op_id, op.tid, op.start_ns, op.end_ns
    FROM trace.op
    ASOF JOIN request ON request.tid = op.tid AND request.start_ns >= op.start_ns
    WHERE NOT op.is_step AND request.start_ns <= op.end_ns
),
-- Nearly all launches lie in the op that began last before them, which is the innermost one. Of those that began together, the
-- search finds it.
begun_op AS (
    SELECT request.launch_id, request.tid, request.end_ns, op.op_id, op.start_ns AS op_start_ns, op.end_ns AS op_end_ns
    FROM request
    ASOF JOIN op ON op.tid = request.tid AND op.start_ns <= request.start_ns
),
shared_start AS (
    SELECT tid, start_ns
    FROM op
    GROUP BY tid, start_ns
    HAVING count(*) > 1
),
direct AS (
    SELECT launch_id, tid, op_id, op_start_ns, op_end_ns
    FROM begun_op
    WHERE op_end_ns >= end_ns
        AND NOT EXISTS (
            FROM shared_start WHERE shared_start.tid = begun_op.tid AND shared_start.start_ns = begun_op.op_start_ns
        )
),
searched_request AS (
    FROM request
    ANTI JOIN direct USING (launch_id, tid)
),
searched_op AS (
    FROM op
    WHERE EXISTS (FROM searched_request)
),
-- Ops and requests of each thread in one order, in which an op comes before all that it contains.
in_order AS (
    SELECT *, row_number() OVER (ORDER BY tid, start_ns, end_ns DESC, op_id NULLS LAST, launch_id) AS position
    FROM (FROM searched_op UNION ALL BY NAME FROM searched_request)
),
item_and_reach AS (
    SELECT
        *,
        max(position) FILTER (op_id IS NOT NULL) OVER before AS before_position,
        max(end_ns) FILTER (op_id IS NOT NULL) OVER before AS reached_ns
    FROM in_order
    WINDOW before AS (PARTITION BY tid ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
-- The same search as in op.parent, but only ops are candidates.
search (position, end_ns, candidate_position) USING KEY (position) AS (
    SELECT position, end_ns, CASE WHEN reached_ns >= end_ns THEN before_position END
    FROM item_and_reach
    UNION
    SELECT inside.position, inside.end_ns, rejected.candidate_position
    FROM search AS inside
    JOIN recurring.search AS rejected ON rejected.position = inside.candidate_position
    WHERE rejected.end_ns < inside.end_ns
),
found_op AS (
    SELECT launch_id, op_id, op_start_ns, op_end_ns
    FROM direct
    UNION ALL
    SELECT request.launch_id, op.op_id, op.start_ns, op.end_ns
    FROM search
    JOIN in_order AS request ON request.position = search.position AND request.op_id IS NULL
    JOIN in_order AS op ON op.position = search.candidate_position
),
around AS (
    SELECT launch_id, arg_max(op_id, (op_start_ns, -op_end_ns, op_id)) AS op_id
    FROM found_op
    GROUP BY launch_id
)
SELECT host_call.launch_id, bool_or(host_call.tid IS NOT NULL) AS is_on_host, max(around.op_id) AS op_id
FROM host_call
LEFT JOIN around USING (launch_id)
GROUP BY host_call.launch_id
