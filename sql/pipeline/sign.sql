-- One row is a sign that the rank may be a stage of a pipeline: more than one stage is recorded, or it sends or receives.
--
-- sign  VARCHAR  recorded size, recorded group, or send or receive
SELECT 'recorded size' AS sign
FROM trace.parallelism
WHERE pipeline_size > 1
UNION ALL
SELECT 'recorded group'
FROM trace.parallel_group
WHERE label = 'pp'
HAVING count(DISTINCT position) > 1
UNION ALL
SELECT DISTINCT 'send or receive'
FROM communication.breakdown
WHERE kind = 'p2p'
