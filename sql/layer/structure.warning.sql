-- No layers were found, and why.
SELECT
    profile,
    'warning' AS severity,
    format('no layers were found: {}', reason) AS sentence
FROM layer.structure
WHERE reason IS NOT NULL
ORDER BY profile
