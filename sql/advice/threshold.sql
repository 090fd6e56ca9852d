-- One row is a threshold of a rule of advice: from which figure on the rule finds something.
--
-- rule     VARCHAR  the rule: a table of advice; every for all rules
-- name     VARCHAR  name of the threshold: --threshold rule.name=value sets it
-- value    DOUBLE   the value that applies
-- @columns usual to meaning as in advice.usual_threshold
WITH given_threshold AS (
    SELECT string_split(text, '=')[1] AS name, string_split(text, '=')[2]::DOUBLE AS value
    FROM (SELECT unnest(getvariable('thresholds')::VARCHAR[]) AS text)
)
SELECT usual.rule, usual.name, coalesce(given_threshold.value, usual.usual) AS value, usual.usual, usual.unit, usual.meaning
FROM advice.usual_threshold AS usual
LEFT JOIN given_threshold ON given_threshold.name = usual.rule || '.' || usual.name
ORDER BY ALL
