-- One row is a cause of idle time that the profile does not record, so that its time counts for another cause.
--
-- cause   VARCHAR  a cause of free.gap_cause
-- reason  VARCHAR  why, and what to do
WITH collected AS (
    SELECT
        EXISTS (FROM trace.host_api) AS has_calls,
        EXISTS (FROM trace.gc) AS has_collections
)
SELECT 'waiting in a synchronise' AS cause, 'no calls into CANN; collect with Level1 or higher' AS reason
FROM collected
WHERE NOT has_calls
UNION ALL
SELECT 'garbage collection', 'none was recorded; on Ascend, gc_detect_threshold records those that take longer than it says'
FROM collected
WHERE NOT has_collections
