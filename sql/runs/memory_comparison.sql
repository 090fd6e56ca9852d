-- One row is an op in a module with the memory of the device that it allocated in the base and in the new run, or a part of the
-- peak that no block explains; the largest change comes first. The figure of a run is the mean of its ranks, and only ranks
-- whose partner has records of memory too.
--
-- run                    VARCHAR  the run that is compared with the base
-- parent_module          VARCHAR  names of the enclosing modules joined by '/', as in runs.module_comparison; NULL outside
--                                 modules
-- module                 VARCHAR  class name of the module, with [Backward] before it in the backward; NULL outside modules
-- op_name                VARCHAR  the op; NULL when not recorded
-- role                   VARCHAR  who holds the memory, as in trace.memory_usage
-- part                   VARCHAR  blocks, or what else the peak is made of, as in allocation.peak
-- base_live_bytes        DOUBLE   bytes alive at the peak of the base; the rows of a role add up to its peak
-- new_live_bytes         DOUBLE   bytes alive at the peak of the new run
-- live_difference_bytes  DOUBLE   new_live_bytes - base_live_bytes
-- base_bytes             DOUBLE   bytes allocated in the base per unit, whether or not they lived at the same time
-- new_bytes              DOUBLE   bytes allocated in the new run per unit
-- difference_bytes       DOUBLE   new_bytes - base_bytes
-- base_block_count       DOUBLE   blocks allocated in the base per unit
-- new_block_count        DOUBLE   blocks allocated in the new run per unit
-- match_id               BIGINT   the module of runs.module_match; NULL outside modules
-- is_backward            BOOLEAN  whether it is the backward of the module; NULL outside modules
-- site                   VARCHAR  the place in the program, as in allocation.call_site; NULL when not recorded
WITH recorded_rank AS (
    SELECT rank.run, rank.side, profile, rank.pair
    FROM runs.compared_rank AS rank
    SEMI JOIN compare.memory USING (profile)
    WHERE rank.pair IS NOT NULL
),
in_both AS (
    SELECT run, pair
    FROM recorded_rank
    GROUP BY run, pair
    HAVING count(DISTINCT side) = 2
),
rank AS (
    SELECT recorded_rank.*
    FROM recorded_rank
    SEMI JOIN in_both ON in_both.run = recorded_rank.run AND in_both.pair = recorded_rank.pair
),
-- Of calls and of whole runs all memory counts, of steps only what was allocated in them.
step AS (
    SELECT DISTINCT run, side, profile, step_id
    FROM runs.compared_unit
    WHERE kind = 'step'
),
size AS (
    SELECT run, side, count(DISTINCT unit_id) AS unit_count, bool_or(kind = 'step') AS are_steps
    FROM runs.compared_unit AS unit
    SEMI JOIN rank ON rank.run = unit.run AND rank.side = unit.side AND rank.profile = unit.profile
    GROUP BY run, side, unit.profile
),
of_side AS (
    SELECT
        run,
        side,
        if(getvariable('per') = 'run', count(*), sum(unit_count)) AS unit_count,
        count(*) AS rank_count,
        bool_or(are_steps) AS are_steps
    FROM size
    GROUP BY run, side
),
memory_of_rank AS (
    SELECT
        rank.run,
        rank.side,
        path.match_id,
        node.is_backward,
        memory.op_name,
        memory.role,
        memory.part,
        memory.site,
        memory.live_bytes,
        if(of_side.are_steps AND step.step_id IS NULL, 0, memory.allocated_bytes) AS allocated_bytes,
        if(of_side.are_steps AND step.step_id IS NULL, 0, memory.block_count) AS block_count,
        of_side.unit_count,
        of_side.rank_count
    FROM compare.memory
    JOIN rank USING (profile)
    JOIN of_side ON of_side.run = rank.run AND of_side.side = rank.side
    LEFT JOIN step
        ON step.run = rank.run AND step.side = rank.side AND step.profile = rank.profile AND step.step_id = memory.step_id
    LEFT JOIN runs.matched_path AS path
        ON path.run = rank.run AND path.side = rank.side AND path.profile = rank.profile AND path.path_id = memory.path_id
    LEFT JOIN compare.module_node AS node ON node.profile = rank.profile AND node.path_id = memory.path_id
),
figure AS (
    SELECT
        run,
        side,
        match_id,
        is_backward,
        op_name,
        role,
        part,
        site,
        sum(live_bytes) / min(rank_count) AS live_bytes,
        sum(allocated_bytes) / min(unit_count) AS bytes,
        sum(block_count) / min(unit_count) AS block_count
    FROM memory_of_rank
    GROUP BY run, side, match_id, is_backward, op_name, role, part, site
),
compared_memory AS (
    SELECT
        run,
        match_id,
        is_backward,
        op_name,
        role,
        part,
        site,
        coalesce(max(live_bytes) FILTER (side = 'base'), 0) AS base_live_bytes,
        coalesce(max(live_bytes) FILTER (side = 'new'), 0) AS new_live_bytes,
        coalesce(max(bytes) FILTER (side = 'base'), 0) AS base_bytes,
        coalesce(max(bytes) FILTER (side = 'new'), 0) AS new_bytes,
        coalesce(max(block_count) FILTER (side = 'base'), 0) AS base_block_count,
        coalesce(max(block_count) FILTER (side = 'new'), 0) AS new_block_count
    FROM figure
    GROUP BY run, match_id, is_backward, op_name, role, part, site
)
SELECT
    compared_memory.run,
    match.parent_module,
    if(is_backward, '[Backward]', '') || match.module AS module,
    op_name,
    role,
    part,
    base_live_bytes,
    new_live_bytes,
    new_live_bytes - base_live_bytes AS live_difference_bytes,
    base_bytes,
    new_bytes,
    new_bytes - base_bytes AS difference_bytes,
    base_block_count,
    new_block_count,
    match_id,
    is_backward,
    site
FROM compared_memory
LEFT JOIN runs.module_match AS match USING (run, match_id)
ORDER BY
    compared_memory.run,
    abs(new_live_bytes - base_live_bytes) DESC,
    abs(new_bytes - base_bytes) DESC,
    match.parent_module,
    module,
    op_name,
    role,
    part,
    site
