-- One row is a mark of an attention: it holds the arguments of the attention that its thread calls next.
--
-- mark_id     BIGINT   a mark of trace.mark
-- tid         BIGINT   host thread: process id * 2^32 + thread id
-- start_ns    BIGINT   when it was made, Unix ns
-- message_id  TEXT_ID  the arguments, as JSON; NULL when the profile lost the text
SELECT mark_id, tid, start_ns, message_id
FROM trace.mark
WHERE role = 'attention'
