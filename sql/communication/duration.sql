-- One row is a type, group and duration of communication operators, and how many of them agree in all three. It is all that
-- totals, medians and percentiles need, of one rank or of all.
--
-- type         VARCHAR  type, such as hcom_allReduce_; where none was collected (Level0), that of the name; NULL when neither
--                       tells it
-- group_name   VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- origin       VARCHAR  where the times come from: kernels; or profiler (communication.json, analysis.db) of operators whose
--                       name no kernel has
-- duration_ns  BIGINT   end - start of each
-- op_count     BIGINT   how many
WITH known AS (
    SELECT DISTINCT short_name AS name
    FROM trace.communication
),
operator AS (
    SELECT
        communication.operator_type AS type,
        group_name.text AS group_name,
        'kernels' AS origin,
        selected.duration_ns
    FROM kernels.selected
    LEFT JOIN trace.communication USING (kernel_id)
    LEFT JOIN trace.string AS group_name ON group_name.text_id = communication.group_name_id
    WHERE selected.kind = 'communication'
    UNION ALL
    SELECT type, group_name, 'profiler', elapse_ns
    FROM trace.reported_communication
    ANTI JOIN known USING (name)
    WHERE elapse_ns IS NOT NULL AND (getvariable('step_id') IS NULL OR step_id = getvariable('step_id'))
)
SELECT type, group_name, origin, duration_ns, count(*) AS op_count
FROM operator
GROUP BY type, group_name, origin, duration_ns
