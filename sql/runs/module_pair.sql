-- One row is a module of the base, of the run that is compared with it, or of both, in ranks that are compared with each other.
--
-- run            VARCHAR  the run that is compared with the base
-- pair           VARCHAR  the ranks, as in runs.compared_rank
-- base_path      VARCHAR  names of the module in the base from the outermost one joined by '/'; NULL where only the new run has
--                         it
-- new_path       VARCHAR  its names in the new run; NULL where only the base has it
-- parent_module  VARCHAR  names of the modules around it in the base joined by '/'; in the new run where only that has it; ''
--                         for an outermost module
-- module         VARCHAR  its last name there
-- how            VARCHAR  how the two are one: same (the same classes), wrapped (the same but for modules around it that one
--                         run alone has), alias (it or a module around it has another name); NULL where there is one
-- has_same_ops   BOOLEAN  whether their calls run the same sequences of ops; NULL where there is one
-- position       BIGINT   place in the order of first calls in the base; what only the new run has comes after what comes
--                         before it there
WITH compared_tree AS (
    -- Most ranks have the same modules: these are matched once.
    SELECT
        base.parents AS base_parents,
        base.names AS base_names,
        base.keys AS base_keys,
        base.paths AS base_paths,
        new.parents AS new_parents,
        new.names AS new_names,
        new.keys AS new_keys,
        new.paths AS new_paths,
        list({'run': base.run, 'pair': base.pair}) AS pairs
    FROM runs.module_tree AS base
    JOIN runs.module_tree AS new USING (run, pair)
    WHERE base.side = 'base' AND new.side = 'new'
    GROUP BY ALL
),
matched_tree AS (
    SELECT
        *,
        unnest(
            matched_nodes(
                {'parents': base_parents, 'names': base_names, 'keys': base_keys},
                {'parents': new_parents, 'names': new_names, 'keys': new_keys},
                getvariable('alias')
            )
        ) AS one
    FROM compared_tree
),
paired_path AS (
    SELECT
        unnest(pairs, recursive := true),
        base_paths[one.base + 1] AS base_path,
        new_paths[one.new + 1] AS new_path,
        one.how,
        base_keys[one.base + 1] IS NOT DISTINCT FROM new_keys[one.new + 1] AS has_same_ops
    FROM matched_tree
),
placed_module AS (
    SELECT
        run,
        side,
        pair,
        paths[place + 1] AS path,
        CASE WHEN parents[place + 1] >= 0 THEN paths[parents[place + 1] + 1] END AS parent_path,
        place
    FROM runs.module_tree
    CROSS JOIN unnest(range(len(paths))) AS in_order (place)
),
base_node AS (
    SELECT run, pair, path AS base_path, parent_path, place
    FROM placed_module
    WHERE side = 'base'
),
new_node AS (
    SELECT run, pair, path AS new_path, parent_path, place
    FROM placed_module
    WHERE side = 'new'
),
together AS (
    SELECT
        run,
        pair,
        base_path,
        new_path,
        coalesce(if(base_path IS NULL, new_node.parent_path, base_node.parent_path), '') AS parent_module,
        paired_path.how,
        paired_path.has_same_ops,
        base_node.place AS base_place,
        new_node.place AS new_place
    FROM base_node
    FULL JOIN paired_path USING (run, pair, base_path)
    FULL JOIN new_node USING (run, pair, new_path)
),
anchored AS (
    SELECT
        *,
        coalesce(base_place, max(base_place) OVER (PARTITION BY run, pair ORDER BY new_place ROWS UNBOUNDED PRECEDING), -1)
            AS anchor
    FROM together
)
SELECT
    run,
    pair,
    base_path,
    new_path,
    parent_module,
    substr(coalesce(base_path, new_path), if(parent_module = '', 1, length(parent_module) + 2)) AS module,
    how,
    has_same_ops,
    row_number() OVER (PARTITION BY run, pair ORDER BY anchor, base_place NULLS LAST, new_place) AS position
FROM anchored
ORDER BY run, pair, position
