-- Rows of ClusterCommunicationTime that do not agree for a reason in docs/differences.md.
SELECT
    difference_id,
    CASE side WHEN 'there' THEN 'Total Op Info is no operator' ELSE 'Times of a plane that moved nothing' END AS known
FROM difference
WHERE
    (side = 'there' AND hccl_op_name = 'Total Op Info')
    OR (side = 'both' AND NOT list_contains(differing, 'elapsed_time') AND transit_time_there = 0)
