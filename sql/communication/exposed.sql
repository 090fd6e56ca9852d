-- One row is the communication of a module, op, type and group in all steps, and how much of it is exposed: time in which no
-- compute kernel of the step runs. The rows add up to communication_not_overlapped_ns of step.time. With steps, operators of no
-- step are left out. Transfers are those of the master plane of an operator, waits those of the plane that waits longest: while
-- the master plane is idle, others can wait. Where computing covers a part of an operator, both count by their share of its
-- time.
--
-- location         VARCHAR  'inside modules', 'outside modules', or 'linked to no op'
-- parent_module    VARCHAR  names of the enclosing modules joined by '/'; NULL outside modules
-- module           VARCHAR  class name of the module, [Backward] before it in the backward; NULL outside modules
-- op               VARCHAR  name of the op that launched it; NULL when linked to no op
-- type             VARCHAR  type, such as hcom_allReduce_; NULL when not known
-- operation        VARCHAR  operation of operators of this type, in lower case, such as allreduce; NULL without a type
-- direction        VARCHAR  send, receive or both of an operator between two ranks; NULL of collectives
-- group_name       VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- group_label      VARCHAR  purpose of the group, such as tp, dp or default_pg; NULL when not recorded
-- op_count         BIGINT   operators
-- elapse_ns        BIGINT   their time, ns; overlapping operators count fully
-- exposed_ns       BIGINT   time in which neither a compute kernel of the step runs, nor an operator of the step that began
--                           earlier, ns: waiting, transferring, other and unknown
-- waiting_ns       BIGINT   the part of exposed_ns that waits for other ranks, ns; NULL when known for no operator
-- transferring_ns  BIGINT   the part of it that transfers over a link, ns; NULL when known for no operator
-- other_ns         BIGINT   the part of it that does neither, ns; NULL when known for no operator
-- unknown_ns       BIGINT   the part of it in operators whose waits or transfers are not recorded, ns
-- longest_ns       BIGINT   time of the longest operator, ns
-- critical_ns      BIGINT   the part of exposed_ns in operators that, if shorter, would let what follows begin earlier, as in
--                           critical.kernel, ns
-- phase            VARCHAR  phase of the passes of a server in which they ran, as in pass.instance; NULL when not known, and
--                           outside passes
WITH label AS (
    SELECT group_name, min(label) AS label
    FROM communication.member
    GROUP BY group_name
),
in_pass AS (
    SELECT kernel.kernel_id, instance.phase
    FROM pass.kernel
    JOIN pass.instance USING (pass_id)
),
operator AS (
    SELECT
        coalesce(kernel.location::VARCHAR, 'linked to no op') AS location,
        kernel.parent_module,
        kernel.module,
        op.text AS op,
        breakdown.type,
        breakdown.operation,
        trace_kernel.direction::VARCHAR AS direction,
        breakdown.group_name,
        label.label AS group_label,
        in_pass.phase,
        breakdown.elapse_ns,
        exposed_operator.is_last,
        exposed_operator.exposed_ns,
        coalesce(critical_kernel.is_critical, true) AS is_critical,
        breakdown.waiting_ns IS NOT NULL AND breakdown.elapse_ns > 0 AS is_split,
        if(is_split, exposed_operator.exposed_ns::HUGEINT * breakdown.waiting_ns // breakdown.elapse_ns, NULL)::BIGINT
            AS waiting_ns,
        if(is_split, exposed_operator.exposed_ns::HUGEINT * breakdown.transit_ns // breakdown.elapse_ns, NULL)::BIGINT
            AS transferring_ns
    FROM communication.exposed_operator
    JOIN communication.breakdown USING (kernel_id)
    JOIN trace.kernel AS trace_kernel USING (kernel_id)
    LEFT JOIN module.kernel USING (kernel_id)
    LEFT JOIN critical.kernel AS critical_kernel USING (kernel_id)
    LEFT JOIN trace.string AS op ON op.text_id = kernel.op_name_id
    LEFT JOIN label USING (group_name)
    LEFT JOIN in_pass USING (kernel_id)
    WHERE exposed_operator.step_id IS NOT NULL OR NOT EXISTS (FROM trace.step)
)
SELECT
    location,
    parent_module,
    module,
    op,
    type,
    operation,
    direction,
    group_name,
    group_label,
    count(*) FILTER (is_last) AS op_count,
    coalesce(sum(elapse_ns) FILTER (is_last), 0)::BIGINT AS elapse_ns,
    sum(exposed_ns)::BIGINT AS exposed_ns,
    sum(waiting_ns)::BIGINT AS waiting_ns,
    sum(transferring_ns)::BIGINT AS transferring_ns,
    sum(exposed_ns - waiting_ns - transferring_ns)::BIGINT AS other_ns,
    coalesce(sum(exposed_ns) FILTER (waiting_ns IS NULL), 0)::BIGINT AS unknown_ns,
    max(elapse_ns) AS longest_ns,
    coalesce(sum(exposed_ns) FILTER (is_critical), 0)::BIGINT AS critical_ns,
    phase
FROM operator
GROUP BY location, parent_module, module, op, type, operation, direction, group_name, group_label, phase
ORDER BY exposed_ns DESC, elapse_ns DESC, location, parent_module, module, op, type, direction, group_name, phase
