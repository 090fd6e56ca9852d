-- One row is a type, group and size of collectives, and how much of their time is exposed, as in communication.exposed. With
-- steps, operators of no step are left out.
--
-- type            VARCHAR  type, such as hcom_allReduce_; NULL when not known
-- operation       VARCHAR  operation of operators of this type, in lower case, such as allreduce; NULL without a type
-- group_name      VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- group_size      BIGINT   ranks of the group; NULL when not recorded
-- is_in_node      BOOLEAN  whether all ranks of the group are on one server, of eight devices; NULL when not known
-- size_bytes      BIGINT   bytes that a rank has before or after one operator, whichever is more
-- op_count        BIGINT   operators
-- elapse_ns       BIGINT   their time, ns; overlapping operators count fully
-- shortest_ns     BIGINT   time of the shortest one, ns
-- exposed_ns      BIGINT   time in which neither a compute kernel of the step runs, nor an operator of the step that began
--                          earlier, ns
-- critical_ns     BIGINT   the part of exposed_ns in operators that are critical, as in critical.kernel, ns
-- link_gb_s       DOUBLE   bandwidth of the links of a device to the others of its node by its data sheet, in one direction,
--                          10^9 bytes per second; NULL when not known
-- in_modules_ns   BIGINT   the part of exposed_ns in operators that modules call, ns
WITH member AS (
    SELECT
        group_name,
        count(*) AS group_size,
        if(count(global_rank) = count(*), count(DISTINCT global_rank // 8) = 1, NULL) AS is_in_node
    FROM communication.member
    GROUP BY group_name
),
-- One product, or it is not known which one communicates.
link AS (
    SELECT min(product.link_gb_s) AS link_gb_s
    FROM (SELECT DISTINCT product FROM trace.chip) AS device
    -- Few of either.
    LEFT JOIN roofline.product AS product ON regexp_matches(device.product, product.pattern)
    HAVING count(*) = 1
),
exposed AS (
    SELECT kernel_id, sum(exposed_ns) AS exposed_ns
    FROM communication.exposed_operator
    WHERE step_id IS NOT NULL OR NOT EXISTS (FROM trace.step)
    GROUP BY kernel_id
)
SELECT
    communication.operator_type AS type,
    communication.operation,
    group_name.text AS group_name,
    coalesce(communication.group_size, member.group_size) AS group_size,
    coalesce(member.is_in_node, if(communication.group_size = 1, true, NULL)) AS is_in_node,
    communication.size_bytes,
    count(*) AS op_count,
    sum(kernel.duration_ns)::BIGINT AS elapse_ns,
    min(kernel.duration_ns) AS shortest_ns,
    sum(exposed.exposed_ns)::BIGINT AS exposed_ns,
    coalesce(sum(exposed.exposed_ns) FILTER (coalesce(critical.is_critical, true)), 0)::BIGINT AS critical_ns,
    min(link.link_gb_s) AS link_gb_s,
    coalesce(sum(exposed.exposed_ns) FILTER (module_kernel.location = 'inside modules'), 0)::BIGINT AS in_modules_ns
FROM exposed
JOIN trace.kernel USING (kernel_id)
JOIN trace.communication USING (kernel_id)
LEFT JOIN module.kernel AS module_kernel USING (kernel_id)
LEFT JOIN critical.kernel AS critical USING (kernel_id)
LEFT JOIN trace.string AS group_name ON group_name.text_id = communication.group_name_id
LEFT JOIN member ON member.group_name = group_name.text
LEFT JOIN link ON true
WHERE kernel.direction IS NULL AND communication.size_bytes IS NOT NULL
GROUP BY
    communication.operator_type,
    communication.operation,
    group_name.text,
    coalesce(communication.group_size, member.group_size),
    coalesce(member.is_in_node, if(communication.group_size = 1, true, NULL)),
    communication.size_bytes
ORDER BY exposed_ns DESC, elapse_ns DESC, type, group_name, size_bytes
