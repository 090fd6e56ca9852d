-- One row is a stretch of time in which a host thread did any of the first `things` things of this list: 1 collect garbage, 2
-- wait in a synchronise, 3 load data, 4 run an op that is no wrapper. The time of one thing, where none before it applies, is
-- then a difference of two lengths.
--
-- tid              BIGINT   host thread: process id * 2^32 + thread id; only threads that request kernels
-- things           INTEGER  number of things, from the beginning of the list
-- start_ns         BIGINT   start, Unix ns
-- end_ns           BIGINT   end, Unix ns
-- before_ns        BIGINT   length of all stretches of the same thread and things before it, ns
WITH loader AS (
    SELECT text_id
    FROM trace.string
    -- Knows dataloader: PyTorch itself names its op so, on any device.
    WHERE starts_with(text, 'enumerate(DataLoader)')
),
call AS (
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
    SELECT if(loader.text_id IS NULL, 4, 3), op.tid, op.start_ns, op.end_ns
    FROM trace.op
    LEFT JOIN loader ON loader.text_id = op.name_id
    LEFT JOIN free.wrapper USING (op_id)
    WHERE NOT op.is_step AND (wrapper.op_id IS NULL OR loader.text_id IS NOT NULL)
),
requesting_thread AS (
    SELECT DISTINCT tid
    FROM free.request
    WHERE tid IS NOT NULL
),
part AS (
    SELECT tid, things, row_number() OVER (ORDER BY tid, things) AS part_id
    FROM requesting_thread
    -- All pairs: of a thread there are four sets of things.
    CROSS JOIN (SELECT unnest(range(1, 5))::INTEGER AS things) AS list
),
-- The windows over rows that are in order already are streamed, and part and time are one number, which only grows: at a
-- million kernels this takes 0.6 s of CPU, and windows with partitions 2 s.
doing AS (
    SELECT part.part_id, call.start_ns, call.end_ns
    FROM call
    JOIN part ON part.tid = call.tid AND part.things >= call.thing
    ORDER BY part.part_id, call.start_ns, call.end_ns
),
reached AS (
    SELECT part_id, start_ns, max(pair_key(part_id, end_ns)) OVER (ROWS UNBOUNDED PRECEDING) AS reached
    FROM doing
),
with_before AS (
    SELECT *, lag(reached) OVER () AS reached_before
    FROM reached
),
stretch AS (
    SELECT
        part_id,
        start_ns,
        lead(reached_before, 1, (SELECT max(reached) FROM reached)) OVER () - pair_key(part_id, 0) AS end_ns
    FROM with_before
    WHERE reached_before IS NULL OR pair_key(part_id, start_ns) > reached_before
),
added_up AS (
    SELECT *, sum(end_ns - start_ns) OVER (ROWS UNBOUNDED PRECEDING) - (end_ns - start_ns) AS before_ns
    FROM stretch
),
before_part AS (
    SELECT part_id, min(before_ns) AS before_ns
    FROM added_up
    GROUP BY part_id
)
SELECT
    part.tid,
    part.things,
    added_up.start_ns,
    added_up.end_ns::BIGINT AS end_ns,
    (added_up.before_ns - before_part.before_ns)::BIGINT AS before_ns
FROM added_up
JOIN before_part USING (part_id)
JOIN part USING (part_id)
