-- One row is a module that both runs have, or one of them, and the rule by which it is one module: the first one that fits.
--
-- match_id    BIGINT   the id, in the order of first calls in the base
-- run         VARCHAR  the run that is compared with the base
-- base_path   VARCHAR  names of the module in the base from the outermost one joined by '/', numbered among equal siblings;
--                      NULL where only the new run has it
-- new_path    VARCHAR  its names in the new run; NULL where only the base has it
-- @columns parent_module to module as in runs.module_pair
-- rule        VARCHAR  instance (the same classes and the same places among equal siblings), sequence (the same classes and the
--                      same sequences of ops), path (the same classes), wrapped (the same classes but for modules around it
--                      that one run alone has), alias (it or a module around it has another name), only base, only new
-- pair_count  BIGINT   pairs of ranks that have it
WITH over_ranks AS (
    SELECT
        run,
        base_path,
        new_path,
        min(parent_module) AS parent_module,
        min(module) AS module,
        min(how) AS how,
        bool_and(has_same_ops) AS has_same_ops,
        min(position) AS position,
        count(*) AS pair_count
    FROM runs.module_pair
    GROUP BY run, base_path, new_path
)
SELECT
    row_number() OVER (ORDER BY run, position, base_path NULLS LAST, new_path) AS match_id,
    run,
    base_path,
    new_path,
    parent_module,
    module,
    CASE
        WHEN new_path IS NULL THEN 'only base'
        WHEN base_path IS NULL THEN 'only new'
        WHEN how IN ('alias', 'wrapped') THEN how
        WHEN base_path = new_path THEN 'instance'
        WHEN has_same_ops THEN 'sequence'
        ELSE 'path'
    END AS rule,
    pair_count
FROM over_ranks
ORDER BY match_id
