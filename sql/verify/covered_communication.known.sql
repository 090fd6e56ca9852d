-- Rows of ComputationalOperatorMaskingLinearity that do not agree for a reason in docs/differences.md.
SELECT difference_id, 'Sums over groups of several purposes' AS known
FROM difference
WHERE side = 'there' AND contains(parallel_type, '+')
