-- One row is a compute kernel and one of another stream of its device that runs at the same time. A kernel is paired with the
-- one that ends last of those begun before it; each pair has two rows, one for each kernel.
--
-- kernel_id    BIGINT  a kernel of trace.kernel
-- stream_rank  BIGINT  its stream, as the position among the streams by compute time
-- other_rank   BIGINT  the stream of the other kernel, in the same way
-- overlap_ns   BIGINT  time in which both run, ns
--
-- With three streams, a kernel that begins while two others run is paired only with the one that ends last.
WITH compute AS (
    SELECT kernel_id, device_id, stream_id, start_ns, end_ns
    FROM kernels.selected
    JOIN (SELECT kernel_id, device_id, stream_id, start_ns, end_ns FROM trace.kernel) USING (kernel_id)
    WHERE kind = 'compute'
),
-- Not by added(), which does not say which kernel still runs.
running AS (
    SELECT *, max(end_ns) OVER before AS running_end_ns, arg_max(kernel_id, end_ns) OVER before AS running_id
    FROM compute
    WINDOW before AS (
        PARTITION BY device_id ORDER BY start_ns, end_ns, kernel_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),
both_run AS (
    SELECT
        running.kernel_id,
        stream.busy_rank AS stream_rank,
        running_id,
        running_stream.busy_rank AS running_rank,
        least(running.end_ns, running_end_ns) - running.start_ns AS overlap_ns
    FROM running
    JOIN compute AS begun_before ON begun_before.kernel_id = running_id
    JOIN layer.busy_stream AS stream
        ON stream.stream_id IS NOT DISTINCT FROM running.stream_id AND stream.device_id IS NOT DISTINCT FROM running.device_id
    JOIN layer.busy_stream AS running_stream
        ON running_stream.stream_id IS NOT DISTINCT FROM begun_before.stream_id
        AND running_stream.device_id IS NOT DISTINCT FROM begun_before.device_id
    WHERE running_end_ns > running.start_ns AND running.end_ns > running.start_ns AND running_rank <> stream_rank
)
SELECT kernel_id, stream_rank, running_rank AS other_rank, overlap_ns
FROM both_run
UNION ALL
SELECT running_id, running_rank, stream_rank, overlap_ns
FROM both_run
