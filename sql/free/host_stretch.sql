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
    SELECT 1 AS list, tid, start_ns, end_ns
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
)
SELECT tid, list::INTEGER AS things, start_ns, end_ns, before_ns
FROM list_stretches(call, requesting_thread)
