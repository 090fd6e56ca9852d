-- One row is a reason why a part of calls of compiled graphs is not known, over all ranks, the reason with the most calls
-- first. Records that several ranks share on one host, such as the devices of one database, count once.
--
-- reason  VARCHAR  why it is not known
-- calls   BIGINT   calls
WITH of_call AS (
    SELECT unnest(string_split(reason, '; ')) AS reason
    FROM graph.call
    WHERE profile IN (SELECT min(profile) FROM op.host GROUP BY host_profile)
)
SELECT reason, count(*) AS calls
FROM of_call
GROUP BY reason
ORDER BY calls DESC, reason
