-- One row is a compute kernel that runs while one of another stream of its device runs, once for each such kernel that was the
-- last to end of those begun before, or that this one was last to end of.
--
-- kernel_id    BIGINT  a kernel of trace.kernel
-- stream_rank  BIGINT  its stream, as the place among the streams by compute time
-- other_rank   BIGINT  the stream of the other kernel, likewise
-- overlap_ns   BIGINT  time in which both run, ns
--
-- With three streams a kernel that two others overlap with counts beside the longer one only.
WITH compute AS (
    SELECT kernel_id, device_id, stream_id, start_ns, end_ns, sum(end_ns - start_ns) OVER of_stream AS stream_ns
    FROM kernel.chosen
    JOIN trace.kernel USING (kernel_id)
    WHERE chosen.kind = 'compute'
    WINDOW of_stream AS (PARTITION BY device_id, stream_id)
),
numbered AS (
    SELECT *, dense_rank() OVER (ORDER BY stream_ns DESC, device_id, stream_id) AS stream_rank
    FROM compute
),
running AS (
    SELECT
        kernel_id,
        stream_rank,
        start_ns,
        end_ns,
        max(end_ns) OVER before AS running_end_ns,
        arg_max(kernel_id, end_ns) OVER before AS running_id,
        arg_max(stream_rank, end_ns) OVER before AS running_rank
    FROM numbered
    WINDOW before AS (
        PARTITION BY device_id ORDER BY start_ns, end_ns, kernel_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),
both_run AS (
    SELECT *, least(end_ns, running_end_ns) - start_ns AS overlap_ns
    FROM running
    WHERE running_end_ns > start_ns AND end_ns > start_ns AND running_rank <> stream_rank
)
SELECT kernel_id, stream_rank, running_rank AS other_rank, overlap_ns
FROM both_run
UNION ALL
SELECT running_id, running_rank, stream_rank, overlap_ns
FROM both_run
