-- One row is a threshold of a rule of advice: from which figure on the rule finds something.
--
-- rule     VARCHAR  the rule: a table of advice; every for all rules
-- name     VARCHAR  name of the threshold: --threshold rule.name=value sets it
-- value    DOUBLE   the value that applies
-- usual    DOUBLE   the value where none is given
-- unit     VARCHAR  its unit; NULL for a plain number
-- meaning  VARCHAR  what it does, and where it comes from
WITH usual (rule, name, usual, unit, meaning) AS (
    VALUES
        -- All rules.
        ('every', 'least_share', 0.005::DOUBLE, NULL::VARCHAR, 'Share of the step that the time of a finding must have'),
        -- The host.
        (
            'garbage_collection',
            'least_gap_count',
            1,
            NULL,
            'Gaps of the device in which the garbage collector must have run'
        )
),
given AS (
    SELECT string_split(text, '=')[1] AS name, string_split(text, '=')[2]::DOUBLE AS value
    FROM (SELECT unnest(getvariable('thresholds')::VARCHAR[]) AS text)
)
SELECT usual.rule, usual.name, coalesce(given.value, usual.usual) AS value, usual.usual, usual.unit, usual.meaning
FROM usual
LEFT JOIN given ON given.name = usual.rule || '.' || usual.name
ORDER BY ALL
