-- One row is a phase of passes of a server, and a type and group of communication operators in it, with their number and times,
-- the largest total time of each phase first.
--
-- @guard pass.kernel
--
-- phase       VARCHAR  as in pass.kernel_phase
-- type        VARCHAR  type, such as hcom_allReduce_; NULL when it is not known
-- group_name  VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- op_count    BIGINT   operators
-- total_ns    BIGINT   their time, ns; overlapping operators count fully
-- exposed_ns  BIGINT   part of it in which no compute kernel runs, nor an operator that began earlier, ns
-- share       DOUBLE   part of the time of all operators of the phase; NULL when that is 0
WITH exposed AS (
    SELECT kernel_id, sum(exposed_ns)::BIGINT AS exposed_ns
    FROM communication.exposed_operator
    GROUP BY kernel_id
),
total AS (
    SELECT
        kernel_phase.phase,
        coalesce(communication.operator_type, type.text) AS type,
        group_name.text AS group_name,
        count(*) AS op_count,
        sum(kernel.duration_ns)::BIGINT AS total_ns,
        coalesce(sum(exposed.exposed_ns), 0)::BIGINT AS exposed_ns
    FROM trace.kernel
    JOIN pass.kernel_phase USING (kernel_id)
    LEFT JOIN trace.communication USING (kernel_id)
    LEFT JOIN exposed USING (kernel_id)
    LEFT JOIN trace.string AS type ON type.text_id = kernel.type_id
    LEFT JOIN trace.string AS group_name ON group_name.text_id = communication.group_name_id
    WHERE kernel.kind = 'communication'
    GROUP BY ALL
)
SELECT *, total_ns / nullif(sum(total_ns) OVER (PARTITION BY phase), 0) AS share
FROM total
ORDER BY sum(total_ns) OVER (PARTITION BY phase) DESC, phase, total_ns DESC, type, group_name
