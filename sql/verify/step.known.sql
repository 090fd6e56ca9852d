-- Rows of ClusterTimeSummary that do not agree for a reason in docs/differences.md.
SELECT difference.difference_id, 'Copies outside the idle time' AS known
FROM difference
JOIN verify.step
    ON step.rank = difference.rank::INTEGER AND step.step = difference.step::BIGINT
WHERE
    difference.differing = ['free']
    AND abs(
        step.free + step.copies_in_free - step.memory_not_overlap_computation_communication - difference.free_there
    ) <= 0.001
