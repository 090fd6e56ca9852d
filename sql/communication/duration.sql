-- One row is a type, group, origin and duration of communication operators, and how many operators agree in all four. Totals,
-- medians and percentiles need nothing else, for one rank or for all.
--
-- type         VARCHAR  type, such as hcom_allReduce_; where none was collected (Level0), taken from the name; NULL when
--                       neither gives it
-- group_name   VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- operation    VARCHAR  operation of operators of this type, in lower case, such as allreduce; NULL without a type
-- group_size   BIGINT   ranks of the group, where the operators themselves name them; NULL when they do not
-- origin       VARCHAR  where the times come from: kernels, or profiler (communication.json, analysis.db) for operators whose
--                       name no kernel has
-- duration_ns  BIGINT   end - start of each
-- op_count     BIGINT   operators
-- sized_count  BIGINT   those of them whose bytes are known
-- size_bytes   BIGINT   their bytes, as in trace.communication; NULL when none is known
WITH named_operator AS (
    SELECT DISTINCT short_name AS name
    FROM trace.communication
),
operator AS (
    SELECT
        communication.operator_type AS type,
        group_name.text AS group_name,
        communication.operation,
        communication.group_size,
        'kernels' AS origin,
        selected.duration_ns,
        communication.size_bytes
    FROM kernels.selected
    LEFT JOIN trace.communication USING (kernel_id)
    LEFT JOIN trace.string AS group_name ON group_name.text_id = communication.group_name_id
    WHERE selected.kind = 'communication'
    UNION ALL
    SELECT type, group_name, NULL, NULL, 'profiler', elapse_ns, NULL
    FROM trace.reported_communication
    ANTI JOIN named_operator USING (name)
    WHERE elapse_ns IS NOT NULL AND (getvariable('step_id') IS NULL OR step_id = getvariable('step_id'))
)
SELECT
    type,
    group_name,
    operation,
    group_size,
    origin,
    duration_ns,
    count(*) AS op_count,
    count(size_bytes) AS sized_count,
    TRY_CAST(sum(size_bytes) AS BIGINT) AS size_bytes
FROM operator
GROUP BY type, group_name, operation, group_size, origin, duration_ns
