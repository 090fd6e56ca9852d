-- One row is a mark of the domain flash_attn_args: the arguments of the attention that its thread calls next.
--
-- mark_id     BIGINT   a mark of trace.mark
-- tid         BIGINT   host thread: process id * 2^32 + thread id
-- start_ns    BIGINT   the moment, Unix ns
-- message_id  TEXT_ID  the arguments, as JSON; NULL when the profile lost the text
SELECT mark.mark_id, mark.tid, mark.start_ns, mark.message_id
FROM trace.mark
JOIN trace.string AS domain ON domain.text_id = mark.domain_id
WHERE domain.text = 'flash_attn_args'
