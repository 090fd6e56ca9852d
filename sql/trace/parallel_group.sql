-- One row is a rank in a group of ranks that the training framework made.
--
-- group_name    VARCHAR  name under which the profile lists the group; not always that of the communicator
-- label         VARCHAR  its purpose, such as pp, dp, tp or default_group; NULL when not recorded
-- own_position  BIGINT   position of the profiled rank in the group; NULL when not recorded
-- position      BIGINT   position of this rank in the group
-- global_rank   BIGINT   global number of this rank
WITH metadata AS (
    SELECT if(json_valid(value), value, '{}')::JSON AS content
    FROM raw.metadata
    WHERE name = 'parallel_group_info'
),
one_group AS (
    SELECT entry.key AS group_name, entry.value AS content
    FROM metadata
    CROSS JOIN json_each(metadata.content) AS entry
),
member AS (
    SELECT
        group_name,
        content ->> '$.group_name' AS label,
        TRY_CAST(content ->> '$.group_rank' AS BIGINT) AS own_position,
        TRY_CAST(content ->> '$.global_ranks[*]' AS BIGINT[]) AS global_ranks
    FROM one_group
)
SELECT DISTINCT
    group_name,
    label,
    own_position,
    generate_subscripts(global_ranks, 1) - 1 AS position,
    unnest(global_ranks) AS global_rank
FROM member
