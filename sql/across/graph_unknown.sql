-- One row is a reason why something of calls of compiled graphs is not known, over all ranks, the one of most calls first. What
-- ranks have from one host counts once.
--
-- reason  VARCHAR  why
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
