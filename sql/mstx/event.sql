-- One row is an mstx mark or range, once, even where its message takes several records. With a step chosen, only those that
-- began in it.
--
-- range_id            BIGINT   a range of trace.range; NULL for a mark
-- mark_id             BIGINT   a mark of trace.mark; NULL for a range
-- kind                VARCHAR  range or mark
-- producer            VARCHAR  who makes them: communication (torch_npu, before each communication op, as JSON), dataloader,
--                              save_checkpoint, profiler step, flops recording (with_flops=True), or user; NULL when the
--                              message is lost
-- domain_id           TEXT_ID  mstx domain; NULL when not recorded
-- message_id          TEXT_ID  the message, or for a long one the part in its first record; NULL when the profile lost its text
-- tid                 BIGINT   host thread: process id * 2^32 + thread id
-- start_ns            BIGINT   start on the host, Unix ns
-- duration_ns         BIGINT   time on the host, ns; NULL for a mark
-- step_id             BIGINT   the profiler step in which it began; NULL outside steps
-- device_start_ns     BIGINT   when its stream reached it, Unix ns; NULL when it was given no stream
-- device_duration_ns  BIGINT   time on the device, ns; NULL when it was given no stream
WITH record AS (
    SELECT
        range_id,
        NULL::BIGINT AS mark_id,
        'range' AS kind,
        domain_id,
        name_id AS message_id,
        tid,
        start_ns,
        duration_ns,
        role
    FROM trace.range
    WHERE role IS DISTINCT FROM 'module'
    UNION ALL
    SELECT NULL, mark_id, 'mark', domain_id, message_id, tid, start_ns, NULL, role
    FROM trace.mark
),
connected AS (
    SELECT record.*, mstx_record.connection_id
    FROM record
    LEFT JOIN trace.mstx_record
        ON coalesce(mstx_record.range_id, -1 - mstx_record.mark_id) = coalesce(record.range_id, -1 - record.mark_id)
),
event AS (
    FROM connected
    QUALIFY connection_id IS NULL OR row_number() OVER (
        PARTITION BY connection_id, kind, tid, start_ns, duration_ns ORDER BY coalesce(range_id, mark_id)
    ) = 1
),
task AS (
    SELECT connection_id, min(start_ns) AS start_ns, sum(duration_ns)::BIGINT AS duration_ns
    FROM trace.mstx_task
    GROUP BY connection_id
)
SELECT
    event.range_id,
    event.mark_id,
    event.kind,
    CASE
        WHEN message.text IS NULL THEN NULL
        WHEN event.role = 'communication' THEN 'communication'
        WHEN event.role = 'flops' THEN 'flops recording'
        WHEN coalesce(domain.text, 'default') <> 'default' THEN 'user'
        -- Knows dataloader, save_checkpoint: the words are values of a column that users read.
        WHEN event.role = 'data loading' THEN 'dataloader'
        WHEN event.role = 'checkpoint' THEN 'save_checkpoint'
        WHEN event.role = 'step' THEN 'profiler step'
        ELSE 'user'
    END AS producer,
    event.domain_id,
    event.message_id,
    event.tid,
    event.start_ns,
    event.duration_ns,
    if(event.start_ns < period.end_ns, period.step_id, NULL) AS step_id,
    task.start_ns AS device_start_ns,
    task.duration_ns AS device_duration_ns
FROM event
LEFT JOIN task USING (connection_id)
ASOF LEFT JOIN step.period ON period.start_ns <= event.start_ns
LEFT JOIN trace.string AS domain ON domain.text_id = event.domain_id
LEFT JOIN trace.string AS message ON message.text_id = event.message_id
WHERE getvariable('step_id') IS NULL OR (event.start_ns < period.end_ns AND period.step_id = getvariable('step_id'))
