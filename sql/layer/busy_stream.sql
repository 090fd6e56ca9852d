-- One row is a stream with compute kernels, and its rank by compute time.
--
-- device_id     BIGINT  device; NULL when not recorded
-- stream_id     BIGINT  stream; NULL where streams are not recorded
-- busy_rank     BIGINT  position among the streams by compute time, from 1
-- kernel_count  BIGINT  compute kernels on it
-- total_ns      BIGINT  their time, ns
-- first_ns      BIGINT  start of the first, Unix ns
SELECT
    device_id,
    stream_id,
    row_number() OVER (ORDER BY sum(duration_ns) DESC, device_id, stream_id) AS busy_rank,
    count(*) AS kernel_count,
    sum(duration_ns)::BIGINT AS total_ns,
    min(start_ns) AS first_ns
FROM kernels.selected
JOIN (SELECT kernel_id, device_id, stream_id, start_ns FROM trace.kernel) USING (kernel_id)
WHERE kind = 'compute'
GROUP BY device_id, stream_id
