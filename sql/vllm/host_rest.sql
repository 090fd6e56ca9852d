-- One row is a duration and its remainder without the stages inside it: in `prepare input and forward` all but `forward` is the
-- host's. A stage is inside another of its line if its name is one of those that `and` joins in the name of the other.
--
-- log_number      BIGINT   number of the log
-- line_number     BIGINT   line in the log
-- record_number   BIGINT   number of the announcement in the line
-- duration_index  BIGINT   index of the duration in the announcement
-- inner_stages    VARCHAR  the stages inside, joined by a comma
-- host_rest_ns    BIGINT   the duration without those of these stages, ns; below 0 where the log gives them more time than the
--                          whole
WITH part AS (
    SELECT
        log_number,
        line_number,
        record_number,
        duration_index,
        duration_ns,
        unnest(list_distinct(string_split(stage, ' and '))) AS part
    FROM vllm.record
    WHERE contains(stage, ' and ')
)
SELECT
    part.log_number,
    part.line_number,
    part.record_number,
    part.duration_index,
    string_agg(inside.stage, ', ' ORDER BY inside.duration_index) AS inner_stages,
    (max(part.duration_ns) - sum(inside.duration_ns))::BIGINT AS host_rest_ns
FROM part
JOIN vllm.record AS inside
    ON inside.log_number = part.log_number
    AND inside.line_number = part.line_number
    AND inside.record_number = part.record_number
    AND inside.stage = trim(part.part)
GROUP BY ALL
