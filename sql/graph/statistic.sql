-- One row is a phase of the calls of a compiled graph, in the order of the phases; first calls, which compile, and replays have
-- separate rows.
--
-- name_id       TEXT_ID  what marks the inference, such as npu_fx_compiler inference
-- region_id     TEXT_ID  the compiled region, such as Torch-Compiled Region: 0/0; NULL where none is recorded
-- is_compiling  BOOLEAN  true for first calls, which compile; false for replays
-- phase         VARCHAR  a column of graph.call without its unit; front_end, torchair_python, torchair_cpp and ge_to_end add up
--                        to call
-- call_count    BIGINT   calls whose time in the phase is known
-- total_ns      BIGINT   their time in it, ns
-- mean_ns       DOUBLE   mean, ns
-- median_ns     BIGINT   the smallest time that at least half of the calls do not exceed, ns
-- p95_ns        BIGINT   the smallest time that at least 95 % of the calls do not exceed, ns
-- min_ns        BIGINT   shortest time, ns
-- max_ns        BIGINT   longest time, ns
-- share         DOUBLE   share of the whole time of the calls for which both times are known; NULL without any
WITH phase AS (
    UNPIVOT (
        SELECT
            name_id, region_id, is_compiling, call_ns AS whole_ns,
            call_ns AS call,
            front_end_ns AS front_end,
            before_lookup_ns AS before_lookup,
            lookup_ns AS lookup,
            torchair_ns AS torchair,
            torchair_python_ns AS torchair_python,
            creation_ns AS creation,
            contiguous_ns AS contiguous,
            clone_ns AS clone,
            other_op_ns AS other_op,
            torchair_cpp_ns AS torchair_cpp,
            ge_to_end_ns AS ge_to_end,
            ge_to_first_kernel_ns AS ge_to_first_kernel
        FROM graph.call
    )
    ON call, front_end, before_lookup, lookup, torchair, torchair_python, creation, contiguous, clone, other_op, torchair_cpp,
       ge_to_end, ge_to_first_kernel
    INTO NAME phase VALUE time_ns
),
total AS (
    SELECT
        name_id,
        region_id,
        is_compiling,
        phase,
        count(*) AS call_count,
        sum(time_ns)::BIGINT AS total_ns,
        quantile_disc(time_ns, 0.5) AS median_ns,
        quantile_disc(time_ns, 0.95) AS p95_ns,
        min(time_ns) AS min_ns,
        max(time_ns) AS max_ns,
        sum(time_ns) FILTER (whole_ns IS NOT NULL) / nullif(sum(whole_ns), 0) AS share
    FROM phase
    GROUP BY name_id, region_id, is_compiling, phase
)
SELECT
    name_id,
    region_id,
    is_compiling,
    phase,
    call_count,
    total_ns,
    total_ns / call_count AS mean_ns,
    median_ns,
    p95_ns,
    min_ns,
    max_ns,
    share
FROM total
LEFT JOIN trace.string AS name ON name.text_id = total.name_id
LEFT JOIN trace.string AS region ON region.text_id = total.region_id
ORDER BY
    name.text,
    region.text,
    is_compiling,
    list_position(
        -- Knows torchair: TorchAir compiles graphs on this hardware alone.
        ['call', 'front_end', 'before_lookup', 'lookup', 'torchair', 'torchair_python', 'creation', 'contiguous', 'clone',
         'other_op', 'torchair_cpp', 'ge_to_end', 'ge_to_first_kernel'],
        phase
    )
