-- One row is a range of the mstx domain mfu_flops, in which torch_npu recorded the FLOPs of a call (with_flops=True).
--
-- range_id    BIGINT   a range of trace.range
-- tid         BIGINT   host thread: process id * 2^32 + thread id
-- start_ns    BIGINT   start, Unix ns
-- end_ns      BIGINT   end, Unix ns
-- flops       BIGINT   FLOPs of the call; NULL where the message is not "{flops}-{name}"
-- flops_name  VARCHAR  the recorded operation, such as matmul; NULL where the message names none
SELECT
    range.range_id,
    range.tid,
    range.start_ns,
    range.end_ns,
    nullif(TRY_CAST(regexp_extract(name.text, '^(\d+)-.', 1) AS BIGINT), 0) AS flops,
    nullif(regexp_extract(name.text, '(?s)^\d+-(.+)$', 1), '') AS flops_name
FROM trace.range
LEFT JOIN trace.string AS name ON name.text_id = range.name_id
WHERE range.role = 'flops'
