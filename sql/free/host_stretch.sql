-- One row is a stretch of time in which a host thread did any of the first `things` things of this list: 1 collect garbage, 2
-- wait in a synchronise, 3 load data, 4 run an op. The time of one thing, where none before it applies, is then a difference of
-- two lengths.
--
-- tid              BIGINT   host thread: process id * 2^32 + thread id; only threads that request kernels
-- things           INTEGER  number of things, from the beginning of the list
-- start_ns         BIGINT   start, Unix ns
-- end_ns           BIGINT   end, Unix ns
-- before_ns        BIGINT   length of all stretches of the same thread and things before it, ns
WITH call AS (
    SELECT 1 AS thing, tid, start_ns, end_ns
    FROM trace.gc
    UNION ALL
    SELECT 2, tid, start_ns, end_ns
    FROM trace.host_api
    WHERE role = 'synchronise'
    UNION ALL
    SELECT 3, tid, start_ns, end_ns
    FROM trace.range
    WHERE role = 'data loading'
    UNION ALL
    SELECT if(starts_with(name.text, 'enumerate(DataLoader)'), 3, 4), op.tid, op.start_ns, op.end_ns
    FROM trace.op
    LEFT JOIN trace.string AS name ON name.text_id = op.name_id
    WHERE NOT op.is_step
),
requesting AS (
    SELECT DISTINCT tid
    FROM free.request
    WHERE tid IS NOT NULL
),
doing AS (
    SELECT call.tid, unnest(range(call.thing, 5))::INTEGER AS things, call.start_ns, call.end_ns
    FROM call
    SEMI JOIN requesting USING (tid)
),
reached AS (
    SELECT *, max(end_ns) OVER (
        PARTITION BY tid, things
        ORDER BY start_ns, end_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
    FROM doing
),
numbered AS (
    SELECT *, sum(if(start_ns <= reached_ns, 0, 1)) OVER (
        PARTITION BY tid, things
        ORDER BY start_ns, end_ns
        ROWS UNBOUNDED PRECEDING
    ) AS stretch
    FROM reached
),
stretch AS (
    SELECT tid, things, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM numbered
    GROUP BY tid, things, stretch
)
SELECT
    tid,
    things,
    start_ns,
    end_ns,
    coalesce(sum(end_ns - start_ns) OVER (
        PARTITION BY tid, things
        ORDER BY start_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0)::BIGINT AS before_ns
FROM stretch
