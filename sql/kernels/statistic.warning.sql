-- Kernels without type, and why they have none where the collection says it.
SELECT
    profile,
    'note' AS severity,
    format(
        '{:.1f}% of the compute time is of kernels whose type is not known, which are listed by core only',
        100 * sum(total_ns) FILTER (type IS NULL) / sum(total_ns)
    ) || coalesce(': ' || getvariable('why_untyped')[profile], '') AS sentence
FROM kernels.statistic
WHERE kind = 'compute'
GROUP BY profile
HAVING sum(total_ns) FILTER (type IS NULL) > 0
ORDER BY profile
