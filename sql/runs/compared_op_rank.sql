-- One row is a row of compare.op_unit, of a rank that is compared, as a part of an op of runs.compared_op.
--
-- op_number       BIGINT   the op: rows that agree in all from run to place have the same
-- run             VARCHAR  the run that is compared with the base
-- side            VARCHAR  base or new: which of the two the kernels are of
-- match_id        BIGINT   the module, a match of runs.module_match; NULL outside modules
-- is_backward     BOOLEAN  whether it is the backward of the module; NULL outside modules
-- location        VARCHAR  'inside modules', or why the kernels are not, as in module.kernel, or outside every step (or call)
-- op_name         VARCHAR  the op; NULL when linked to no op
-- kind            VARCHAR  kind of the kernels: compute, communication, copy or schedule
-- type            VARCHAR  operator type of the kernels; NULL when it is not known
-- input_shapes    VARCHAR  input shapes; NULL where not recorded, or recorded in one of the two runs only
-- place           VARCHAR  outside every step (or call) for kernels of no unit; else NULL, also where figures are per run
-- profile         VARCHAR  the rank
-- first_start_ns  BIGINT   start of the first of the ops, Unix ns; NULL when linked to no op
-- units           STRUCT(unit_id BIGINT, kernel_count BIGINT, duration_ns BIGINT)[]  the kernels in each unit, as in
--                          compare.op_unit
WITH row_of_rank AS (
    SELECT
        rank.run,
        rank.side,
        op.* EXCLUDE (run),
        if(op.is_in_unit OR getvariable('per') = 'run', NULL, 'outside every ' || size.unit_kind) AS place
    FROM compare.op_unit AS op
    JOIN runs.compared_rank AS rank ON rank.profile = op.profile
    JOIN runs.compared_run AS size ON size.run = rank.run AND size.side = rank.side
    WHERE rank.pair IS NOT NULL
),
shape_known AS (
    SELECT run, count(DISTINCT side) FILTER (input_shapes IS NOT NULL) = 2 AS is_known
    FROM row_of_rank
    GROUP BY run
),
matched_op AS (
    SELECT
        row_of_rank.run,
        row_of_rank.side,
        matched_path.match_id,
        node.is_backward,
        -- Why no op launched them says more.
        coalesce(
            if(row_of_rank.first_start_ns IS NULL, NULL, row_of_rank.place),
            row_of_rank.reason,
            'inside modules'
        ) AS location,
        row_of_rank.op_name,
        row_of_rank.kind,
        row_of_rank.type,
        if(shape_known.is_known, row_of_rank.input_shapes, NULL) AS input_shapes,
        row_of_rank.place,
        row_of_rank.profile,
        row_of_rank.first_start_ns,
        row_of_rank.units
    FROM row_of_rank
    JOIN shape_known USING (run)
    LEFT JOIN runs.matched_path
        ON matched_path.run = row_of_rank.run AND matched_path.side = row_of_rank.side
        AND matched_path.profile = row_of_rank.profile AND matched_path.path_id = row_of_rank.path_id
        AND row_of_rank.place IS NULL
    LEFT JOIN compare.module_node AS node
        ON node.profile = row_of_rank.profile AND node.path_id = row_of_rank.path_id AND row_of_rank.place IS NULL
)
SELECT
    dense_rank() OVER (
        ORDER BY run, side, match_id, is_backward, location, op_name, kind, type, input_shapes, place
    ) AS op_number,
    *
FROM matched_op
