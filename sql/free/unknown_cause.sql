-- One row is a cause of idle time that the profile does not record, so that its time counts for another cause.
--
-- cause   VARCHAR  a cause of free.gap_cause
-- reason  VARCHAR  why, and what to do
WITH collected AS (
    SELECT
        EXISTS (FROM trace.host_api) AS has_calls,
        EXISTS (FROM trace.op) AS has_ops,
        EXISTS (FROM trace.gc) AS has_collections
)
SELECT 'waiting in a synchronise' AS cause, unrecorded.reason
FROM collected
CROSS JOIN trace.unrecorded
WHERE NOT has_calls AND unrecorded.what = 'calls'
UNION ALL
SELECT 'garbage collection', unrecorded.reason
FROM collected
CROSS JOIN trace.unrecorded
WHERE NOT has_collections AND unrecorded.what = 'collections'
UNION ALL
SELECT 'inside an op', unrecorded.reason
FROM collected
CROSS JOIN trace.unrecorded
WHERE NOT has_ops AND unrecorded.what = 'ops'
