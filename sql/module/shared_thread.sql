-- One row is a host thread id that several threads had, one after the other.
--
-- @columns tid as in module.thread_life
SELECT tid
FROM module.thread_life
GROUP BY tid
HAVING count(*) > 1
