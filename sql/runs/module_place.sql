-- One row is a module of runs.module_match by the classes around it and its place among equal siblings.
--
-- run       VARCHAR    the run that is compared with the base
-- match_id  BIGINT     a module of runs.module_match
-- classes   VARCHAR[]  class names from the outermost module to this one, as in the base; of what only the new run has, as
--                      there; of what is only in one run as a part of a module that is, to the outermost such module
-- numbers   BIGINT[]   for each the number among equal siblings; NULL where no module has a sibling of the class there
WITH named_module AS (
    SELECT
        run,
        match_id,
        starts_with(rule, 'only') AS is_only,
        string_split(coalesce(base_path, new_path), '/') AS names,
        list_transform(names, lambda name: regexp_replace(name, '\[\d+\]$', '')) AS classes,
        list_transform(names, lambda name: TRY_CAST(regexp_extract(name, '\[(\d+)\]$', 1) AS BIGINT)) AS numbers
    FROM runs.module_match
),
level AS (
    SELECT
        run,
        match_id,
        is_only,
        unnest(range(1, len(classes) + 1)) AS depth,
        names[:depth] AS names_around,
        classes[:depth] AS around,
        numbers[depth] AS number
    FROM named_module
),
with_siblings AS (
    SELECT *, max(number) OVER (PARTITION BY run, around) > 0 AS has_siblings
    FROM level
),
place AS (
    SELECT run, match_id, list(if(has_siblings, number, NULL) ORDER BY depth) AS numbers
    FROM with_siblings
    GROUP BY run, match_id
),
-- A module without a partner has no partners inside either.
whole AS (
    SELECT level.run, level.match_id, min(level.depth) AS depth
    FROM level
    JOIN named_module AS around ON around.run = level.run AND around.names = level.names_around
    WHERE level.is_only AND around.is_only
    GROUP BY level.run, level.match_id
)
SELECT
    run,
    match_id,
    named_module.classes[:coalesce(whole.depth, len(named_module.classes))] AS classes,
    place.numbers[:coalesce(whole.depth, len(named_module.classes))] AS numbers
FROM named_module
JOIN place USING (run, match_id)
LEFT JOIN whole USING (run, match_id)
