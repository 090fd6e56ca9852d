-- One row is the pipeline on the host that feeds the device with data: how often its last queue was empty, which is when the
-- device waits, how long a batch takes, and which op takes most time to make its part. Without records there is no row.
--
-- queue_op       VARCHAR  op whose queue the device takes batches from; NULL when not recorded
-- empty_share    DOUBLE   part of the samples in which this queue was empty; NULL when not recorded
-- batch_ns       BIGINT   mean time of a batch, ns; NULL when not recorded
-- pipeline_ns    BIGINT   part of it until the ops have made the batch, ns; NULL when not recorded
-- push_ns        BIGINT   part of it until the batch is in the queue of the device, ns; NULL when not recorded
-- slowest_op     VARCHAR  op that takes most time to process, over all its calls; without these the op whose workers use most
--                         of their cores; NULL when not recorded
-- slowest_ns     BIGINT   its time over all calls, ns; NULL when not recorded
-- slowest_calls  BIGINT   its calls; NULL when not recorded
-- slowest_share  DOUBLE   part of a core that each of its workers uses; NULL when not recorded
WITH last_queue AS (
    SELECT arg_min(op.name, op.op_id) AS queue_op, arg_min(op.empty_share, op.op_id) AS empty_share
    FROM trace.input_op AS op
    WHERE op.empty_share IS NOT NULL
),
batch AS (
    SELECT
        max(mean_ns) FILTER (name = 'batch') AS batch_ns,
        max(mean_ns) FILTER (name = 'pipeline') AS pipeline_ns,
        max(mean_ns) FILTER (name = 'push') AS push_ns
    FROM trace.input_time
),
processing AS (
    SELECT name, sum(call_count * mean_ns)::BIGINT AS total_ns, sum(call_count)::BIGINT AS calls
    FROM trace.input_call
    WHERE contains(lower(stage), 'process')
    GROUP BY name
),
slowest_call AS (
    SELECT
        arg_max(name, (total_ns, name)) AS name,
        max(total_ns) AS total_ns,
        arg_max(calls, (total_ns, name)) AS calls
    FROM processing
),
busiest AS (
    SELECT
        arg_max(name, (cpu_share / greatest(worker_count, 1), -op_id)) AS name,
        max(cpu_share / greatest(worker_count, 1)) AS share
    FROM trace.input_op
    WHERE cpu_share > 0
)
SELECT
    last_queue.queue_op,
    last_queue.empty_share,
    batch.batch_ns,
    batch.pipeline_ns,
    batch.push_ns,
    coalesce(slowest_call.name, busiest.name) AS slowest_op,
    slowest_call.total_ns AS slowest_ns,
    slowest_call.calls AS slowest_calls,
    if(slowest_call.name IS NULL, busiest.share, NULL) AS slowest_share
FROM last_queue
CROSS JOIN batch
CROSS JOIN slowest_call
CROSS JOIN busiest
WHERE last_queue.empty_share IS NOT NULL OR coalesce(slowest_call.name, busiest.name) IS NOT NULL OR batch.batch_ns IS NOT NULL
