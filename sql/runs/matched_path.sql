-- One row is a module path of a rank, forward or backward, and the module of runs.module_match that it is.
--
-- run       VARCHAR  the run that is compared with the base
-- side      VARCHAR  base or new
-- profile   VARCHAR  the folder, the identity of the rank
-- path_id   BIGINT   a path of compare.module_node
-- match_id  BIGINT   a module of runs.module_match
WITH of_side AS (
    SELECT pair.run, 'base' AS side, pair.pair, pair.base_path AS module_path, match_id
    FROM runs.module_pair AS pair
    JOIN runs.module_match AS found
        ON found.run = pair.run AND found.base_path = pair.base_path AND found.new_path IS NOT DISTINCT FROM pair.new_path
    UNION ALL
    SELECT pair.run, 'new', pair.pair, pair.new_path, match_id
    FROM runs.module_pair AS pair
    JOIN runs.module_match AS found
        ON found.run = pair.run AND found.new_path = pair.new_path AND found.base_path IS NOT DISTINCT FROM pair.base_path
)
SELECT rank.run, rank.side, profile, node.path_id, of_side.match_id
FROM runs.compared_rank AS rank
JOIN compare.module_node AS node USING (profile)
JOIN of_side ON of_side.run = rank.run AND of_side.side = rank.side AND of_side.pair = rank.pair
    AND of_side.module_path = node.module_path
