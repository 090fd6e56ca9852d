-- One row is a phase of the calls of a compiled graph on a rank, with first calls, which compile, apart from replays: the
-- graphs with the most time first, and the phases of each in their order.
--
-- graph_number  BIGINT   number of the graph, from 1, where 1 has the most time in inferences; its first calls and its replays
--                        have numbers of their own
-- profile       VARCHAR  the folder of the rank
-- rank_id       INTEGER  the rank; NULL when the files name none
-- name          VARCHAR  name of the range that marks the inference, such as npu_fx_compiler inference; NULL when the profile
--                        lost its text
-- region        VARCHAR  the compiled region, such as Torch-Compiled Region: 0/0; NULL where none is recorded
-- is_compiling  BOOLEAN  true for first calls, which compile; false for replays
-- phase         VARCHAR  a phase of graph.statistic in which time was spent
-- @columns call_count to share as in graph.statistic
WITH longest AS (
    SELECT
        profile,
        name,
        region,
        is_compiling,
        row_number() OVER (ORDER BY sum(inference_ns) DESC, profile, name, region, is_compiling) AS graph_number
    FROM graph.call
    GROUP BY profile, name, region, is_compiling
)
SELECT
    longest.graph_number,
    statistic.profile,
    statistic.rank_id,
    statistic.name,
    statistic.region,
    statistic.is_compiling,
    statistic.phase,
    statistic.call_count,
    statistic.total_ns,
    statistic.mean_ns,
    statistic.median_ns,
    statistic.p95_ns,
    statistic.min_ns,
    statistic.max_ns,
    statistic.share
FROM graph.statistic
JOIN longest
    ON longest.profile = statistic.profile
    AND longest.name = statistic.name
    AND longest.region IS NOT DISTINCT FROM statistic.region
    AND longest.is_compiling = statistic.is_compiling
WHERE statistic.max_ns > 0
ORDER BY
    longest.graph_number,
    list_position(
        -- Knows torchair: TorchAir compiles graphs on this hardware alone.
        ['call', 'front_end', 'before_lookup', 'lookup', 'torchair', 'torchair_python', 'creation', 'contiguous', 'clone',
         'other_op', 'torchair_cpp', 'ge_to_end', 'ge_to_first_kernel'],
        statistic.phase
    )
