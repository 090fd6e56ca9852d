-- One row is a rank of the base or of the run that is compared with it, and with which ranks of the other it is compared. Ranks
-- are paired as the user says; else by their ids, where both runs have the same; else by their places in tensor, context, data
-- and pipeline parallel groups, where both know the same; else by pipeline stage, where both have the same stages; else all
-- ranks of a run are compared together. With several runs beside the base, the ranks of the base occur once for each.
--
-- run        VARCHAR  the run that is compared with the base
-- side       VARCHAR  base or new: which of the two the rank belongs to
-- profile    VARCHAR  the folder, the identity of the rank
-- rank_id    INTEGER  the rank; NULL when the files name none
-- pair       VARCHAR  ranks of base and new with the same text are compared; NULL without one to compare with
-- paired_by  VARCHAR  rank map, rank id, parallel groups, pipeline stage, or all ranks together
WITH compared_place AS (
    SELECT DISTINCT run
    FROM communication.parallel_rank
    WHERE run <> 'base'
),
rank AS (
    SELECT compared_place.run, if(place.run = 'base', 'base', 'new') AS side, place.* EXCLUDE (run)
    FROM compared_place
    JOIN communication.parallel_rank AS place ON place.run = 'base' OR place.run = compared_place.run
),
mapped AS (
    SELECT split_part(pair, '=', 1)::INTEGER AS base_id, split_part(pair, '=', 2)::INTEGER AS new_id
    FROM unnest(getvariable('rank_map')) AS chosen (pair)
),
named_rank AS (
    SELECT
        rank.*,
        coalesce(of_base.new_id, of_new.new_id)::VARCHAR AS mapped_name,
        rank_id::VARCHAR AS id_name,
        nullif(
            concat_ws(
                ' ',
                'tensor ' || tp_rank::VARCHAR,
                'context ' || cp_rank::VARCHAR,
                'data ' || dp_rank::VARCHAR,
                'pipeline ' || pipeline_stage::VARCHAR
            ),
            ''
        ) AS place_name,
        'pipeline stage ' || pipeline_stage::VARCHAR AS stage_name
    FROM rank
    LEFT JOIN mapped AS of_base ON rank.side = 'base' AND of_base.base_id = rank.rank_id
    LEFT JOIN mapped AS of_new ON rank.side = 'new' AND of_new.new_id = rank.rank_id
),
-- Each way to pair that both runs allow: no rank lacks the name, on a side each name is one rank (but many may share a stage).
way AS (
    SELECT run, 'rank id' AS paired_by, 1 AS priority, side, id_name AS name, true AS is_single FROM named_rank
    UNION ALL
    SELECT run, 'parallel groups', 2, side, place_name, true FROM named_rank
    UNION ALL
    SELECT run, 'pipeline stage', 3, side, stage_name, false FROM named_rank
    UNION ALL
    SELECT run, 'all ranks together', 4, side, 'all ranks', false FROM named_rank
),
side_names AS (
    SELECT
        run,
        paired_by,
        priority,
        side,
        list_sort(list_distinct(list(name))) AS names,
        count(*) = count(name) AND (NOT bool_or(is_single) OR count(DISTINCT name) = count(*)) AS is_possible
    FROM way
    GROUP BY run, paired_by, priority, side
),
possible AS (
    SELECT run, paired_by, priority
    FROM side_names
    GROUP BY run, paired_by, priority
    HAVING bool_and(is_possible) AND count(*) = 2 AND count(DISTINCT names) = 1
),
chosen AS (
    SELECT run, arg_min(paired_by, priority) AS paired_by
    FROM possible
    GROUP BY run
),
paired_rank AS (
    SELECT
        named_rank.*,
        CASE
            WHEN EXISTS (FROM mapped) THEN mapped_name
            ELSE CASE chosen.paired_by
                WHEN 'rank id' THEN id_name
                WHEN 'parallel groups' THEN place_name
                WHEN 'pipeline stage' THEN stage_name
                ELSE 'all ranks'
            END
        END AS name,
        if(EXISTS (FROM mapped), 'rank map', chosen.paired_by) AS paired_by
    FROM named_rank
    JOIN chosen USING (run)
)
SELECT
    run,
    side,
    profile,
    rank_id,
    CASE WHEN count(DISTINCT side) OVER (PARTITION BY run, name) = 2 THEN name END AS pair,
    paired_by
FROM paired_rank
ORDER BY run, side, rank_id, profile
