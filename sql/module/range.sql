-- One row is a forward call of a module as the host recorded it: an mstx start/end range of the domain `Module`.
--
-- range_id  BIGINT   position in the order (thread, start, longest first): of two ranges that contain an op on its thread, the
--                    one with the larger range_id is the inner one
-- tid       BIGINT   host thread: process id * 2^32 + thread id
-- name_id   TEXT_ID  class name of the module; NULL when the profile lost its text
-- start_ns  BIGINT   start, Unix ns
-- end_ns    BIGINT   end, Unix ns
SELECT
    row_number() OVER (ORDER BY tid, start_ns, end_ns DESC, range_id) AS range_id,
    tid,
    name_id,
    start_ns,
    end_ns
FROM trace.range
JOIN trace.string AS domain ON domain.text_id = range.domain_id
WHERE domain.text = 'Module' AND range.api = 'start_end'
