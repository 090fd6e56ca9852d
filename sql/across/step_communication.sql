-- One row is communication over all steps and ranks, that of no step included, and how much of it computing covers: all
-- operators, those of all groups with one purpose, or those of one group and type.
--
-- level              VARCHAR  step (all operators), label or operator, as in step.communication
-- group_label        VARCHAR  purpose of the group; NULL when not recorded, and for all operators
-- group_name         VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded, and at other levels
-- type               VARCHAR  type, such as hcom_allReduce_; NULL when not known, and at other levels
-- op_count           BIGINT   operators
-- communication_ns   BIGINT   time with such an operator, ns
-- overlapped_ns      BIGINT   time with such an operator and a compute kernel of its step, ns
-- not_overlapped_ns  BIGINT   the rest of communication_ns, ns
-- overlapped_share   DOUBLE   overlapped_ns / communication_ns; NULL when that is 0
-- counted_once_ns    BIGINT   part of not_overlapped_ns in which no operator of the step ran that had begun earlier, ns
-- rank_count         BIGINT   ranks that have such operators
-- no_step_count      BIGINT   part of op_count that is of no step, on ranks that have steps
-- no_step_ns         BIGINT   part of communication_ns with these, ns
WITH communication AS (
    SELECT *, step_id IS NULL AND profile IN (SELECT profile FROM step.time WHERE step_id IS NOT NULL) AS is_of_no_step
    FROM step.communication
)
SELECT
    level::VARCHAR AS level,
    group_label,
    group_name,
    type,
    sum(op_count)::BIGINT AS op_count,
    sum(communication_ns)::BIGINT AS communication_ns,
    sum(overlapped_ns)::BIGINT AS overlapped_ns,
    sum(not_overlapped_ns)::BIGINT AS not_overlapped_ns,
    sum(overlapped_ns) / nullif(sum(communication_ns), 0) AS overlapped_share,
    sum(counted_once_ns)::BIGINT AS counted_once_ns,
    count(DISTINCT profile) AS rank_count,
    coalesce(sum(op_count) FILTER (is_of_no_step), 0)::BIGINT AS no_step_count,
    coalesce(sum(communication_ns) FILTER (is_of_no_step), 0)::BIGINT AS no_step_ns
FROM communication
GROUP BY level, group_label, group_name, type
ORDER BY level, not_overlapped_ns DESC, group_label, group_name, type
