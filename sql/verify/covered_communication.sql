-- One row is the communication of a step of a rank in all groups with one purpose, as StepCommunication of `step-time` has it,
-- in the columns of ComputationalOperatorMaskingLinearity of msprof-analyze, which knows these purposes alone and does not say
-- the rank.
--
-- @beside ComputationalOperatorMaskingLinearity of computational_op_masking by step_id, parallel_type
--
-- step_id                                    BIGINT   number of the step
-- parallel_type                              VARCHAR  purpose of the groups, such as tp or dp
-- total_communication_operator_time          BIGINT   time with such an operator, ns
-- total_time_without_communication_blackout  BIGINT   the part of it without a compute kernel, ns
SELECT
    step_id,
    group_label AS parallel_type,
    communication_ns AS total_communication_operator_time,
    not_overlapped_ns AS total_time_without_communication_blackout
FROM step.communication
WHERE level = 'label' AND step_id IS NOT NULL AND group_label IN ('dp', 'edp', 'ep', 'pp', 'mp', 'tp')
