-- One row is a module, op and type of kernels that only read and write memory, and reach little of its bandwidth.
--
-- @guard roofline.memory
-- @title Kernels move data far below the bandwidth of memory
-- @evidence {count|a kernel moves|kernels move} {moved_bytes} in {time_ns}, {bandwidth_gb_s:,.0f} of the {memory_gb_s:,.0f}
--     GB/s of {product}; of {shape_count|shape|shapes most can be won in} {input_shapes}: {most_gb_s:,.0f}
--     GB/s{unless_critical(time_ns, critical_ns)}
-- @kind upper bound
-- @remedy Let inputs lie in memory as they are read (contiguous(), no transposed or strided views, an inner axis longer than a
--     few elements), or let torch.compile fuse the op with its neighbours.
-- @query SELECT duration_ns, critical_ns, bandwidth_gb_s, op_name, input_shapes FROM roofline.memory ORDER BY duration_ns DESC
--     LIMIT 50
-- @counts kernels
-- @requires compute, shapes
-- @threshold attainable_share 0.8: Share of the bandwidth that kernels can reach: of a data sheet nothing reaches all
-- @threshold least_bytes 1048576 bytes: Bytes that a kernel must move: fewer do not fill the device
-- @threshold least_duration_ns 20000 ns: Mean time that kernels must have: shorter ones take the time that a kernel takes to
--     start
-- @threshold most_share 0.4: Share of the bandwidth from which on kernels are not slow
--
-- @columns profile to rank_id, module to kernel_type, count to win_ns as in advice.finding_of_rank
-- moved_bytes     BIGINT   bytes that they read and write
-- bandwidth_gb_s  DOUBLE   rate at which they do, 10^9 bytes per second
-- memory_gb_s     DOUBLE   bandwidth of the memory, 10^9 bytes per second
-- product         VARCHAR  the device that has it
-- critical_ns     BIGINT   the part of time_ns in kernels that are critical, as in critical.kernel, ns
-- shape_count     BIGINT   shapes of their inputs
-- input_shapes    VARCHAR  of the shape in which most can be won, its inputs, cut to 60 letters
-- most_gb_s       DOUBLE   its rate, 10^9 bytes per second
--
-- Kernels of 20 us and 1 MiB or more (mean of module, op and shape) that cast, compute element by element or sum, on a GPU
-- whose data sheet is known (`roofline.product`), and reach less than 40 % of the bandwidth of its memory (`most_share`), by
-- module, op and type. The win is an upper bound: the critical time less the time that the same bytes take at 80 % of the
-- bandwidth (`attainable_share`). Bytes are those of the op's inputs and of a result as large as the largest of them; ops of
-- several kernels are left out. Most of these kernels read or write with a stride. Kernels that only copy are in
-- [format-conversion](#format-conversion). On NPUs hardware counters say this more surely: [memory-bound](#memory-bound). `FROM
-- roofline.memory` has all shapes.
WITH threshold AS (
    SELECT
        max(value) FILTER (name = 'attainable_share') AS attainable_share,
        max(value) FILTER (name = 'least_bytes') AS least_bytes,
        max(value) FILTER (name = 'least_duration_ns') AS least_duration_ns,
        max(value) FILTER (name = 'most_share') AS most_share
    FROM advice.threshold
    WHERE rule = 'slow_memory'
),
slow_shape AS (
    SELECT
        memory.*,
        memory.critical_ns * (1 - memory.bandwidth_gb_s / (memory.memory_gb_s * threshold.attainable_share)) AS win_ns
    FROM roofline.memory
    CROSS JOIN threshold
    WHERE memory.bandwidth_gb_s < memory.memory_gb_s * threshold.most_share
      AND memory.bytes >= threshold.least_bytes * memory.kernel_count
      AND memory.duration_ns >= threshold.least_duration_ns * memory.kernel_count
),
finding AS (
    SELECT
        profile,
        rank_id,
        module,
        op_name AS op,
        type AS kernel_type,
        product,
        memory_gb_s,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        sum(bytes)::BIGINT AS bytes,
        round(sum(win_ns))::BIGINT AS win_ns,
        count(*) AS shape_count,
        arg_max(slow_shape, (win_ns, duration_ns, input_shapes, input_types)) AS most
    FROM slow_shape
    GROUP BY ALL
)
SELECT
    profile,
    rank_id,
    module,
    op,
    kernel_type,
    kernel_count AS count,
    duration_ns AS time_ns,
    win_ns,
    bytes AS moved_bytes,
    bytes / duration_ns AS bandwidth_gb_s,
    memory_gb_s,
    product,
    critical_ns,
    shape_count,
    shown_shapes(most.input_shapes) AS input_shapes,
    most.bandwidth_gb_s AS most_gb_s
FROM finding
WHERE win_ns > 0
