-- One row is a type, group and duration of communication operators, and how many of them agree in all three. It is all that
-- totals, medians and percentiles need, of one rank or of all.
--
-- type           VARCHAR  type, such as hcom_allReduce_; where none was collected (Level0), that of the name; NULL when neither
--                         tells it
-- group_name_id  TEXT_ID  the group of ranks, that is, the communicator; NULL when not recorded
-- duration_ns    BIGINT   end - start of each
-- op_count       BIGINT   how many
WITH operator AS (
    SELECT
        coalesce(type.text, type_of_communication(name.text)) AS type,
        communication.group_name_id,
        chosen.duration_ns
    FROM kernel.chosen
    LEFT JOIN trace.communication USING (kernel_id)
    LEFT JOIN trace.string AS type ON type.text_id = chosen.type_id
    LEFT JOIN trace.string AS name ON name.text_id = chosen.name_id
    WHERE chosen.kind = 'communication'
)
SELECT type, group_name_id, duration_ns, count(*) AS op_count
FROM operator
GROUP BY type, group_name_id, duration_ns
