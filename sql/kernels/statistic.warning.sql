-- Kernels of unknown type, and the reason where the collection explains it.
SELECT
    profile,
    'note' AS severity,
    format(
        '{:.1f}% of the compute time belongs to kernels of unknown type, which are listed by core only',
        100 * sum(total_ns) FILTER (type IS NULL) / sum(total_ns)
    ) || coalesce(': ' || getvariable('why_untyped')[profile], '') AS sentence
FROM kernels.statistic
WHERE kind = 'compute'
GROUP BY profile
HAVING sum(total_ns) FILTER (type IS NULL) > 0
ORDER BY profile
