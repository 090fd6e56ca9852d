-- One row is a type and a shape of compute kernels of which some run beside communication and some do not, and how much longer
-- they take beside it: communication takes memory bandwidth, and on GPUs cores. Kernels without recorded shapes are left out:
-- those of one type may do different work.
--
-- @unique covering by start_ns: covered() has a row a moment
--
-- type_id          TEXT_ID  operator type; NULL when it is not known
-- slowdown         DOUBLE   mean time beside communication / mean time alone
-- lost_ns          BIGINT   by how much those beside it are longer in all, ns; below 0 where they are shorter
-- beside_count     BIGINT   kernels that run beside communication for half of their time or more
-- beside_mean_ns   DOUBLE   their mean time, ns
-- alone_count      BIGINT   kernels beside which no communication runs
-- alone_mean_ns    DOUBLE   their mean time, ns
-- input_shapes_id  TEXT_ID  input shapes of the kernels, else of their op
-- name_id          TEXT_ID  name of the kernels
WITH communication AS (
    SELECT start_ns, end_ns
    FROM trace.kernel
    WHERE kind = 'communication'
),
-- A moment at which communication starts, and how long it has covered by then.
covering AS (
    SELECT start_ns, covered_ns, reached_ns
    FROM covered(communication)
),
kernel AS (
    SELECT
        device.kernel_id,
        device.name_id,
        device.type_id,
        coalesce(device.input_shapes_id, op_input.input_shapes_id) AS input_shapes_id,
        device.start_ns,
        device.end_ns,
        device.duration_ns
    FROM kernels.selected
    JOIN trace.kernel AS device USING (kernel_id)
    LEFT JOIN module.kernel USING (kernel_id)
    LEFT JOIN trace.op_input ON op_input.op_id = kernel.op_id
    WHERE selected.kind = 'compute' AND device.duration_ns > 0
),
at_start AS (
    SELECT kernel.*, covered_until(covering.covered_ns, covering.reached_ns, kernel.start_ns) AS before_ns
    FROM kernel
    ASOF LEFT JOIN covering ON covering.start_ns <= kernel.start_ns
),
measured AS (
    SELECT at_start.*, covered_until(covering.covered_ns, covering.reached_ns, at_start.end_ns) - before_ns AS beside_ns
    FROM at_start
    ASOF LEFT JOIN covering ON covering.start_ns <= at_start.end_ns
),
shaped AS (
    SELECT text_id AS input_shapes_id
    FROM trace.string
    WHERE text_id IN (SELECT input_shapes_id FROM kernel) AND trim(text, '"; ') <> ''
),
compared AS (
    SELECT
        type_id,
        name_id,
        input_shapes_id,
        count(*) FILTER (beside_ns * 2 >= duration_ns) AS beside_count,
        avg(duration_ns) FILTER (beside_ns * 2 >= duration_ns) AS beside_mean_ns,
        count(*) FILTER (beside_ns = 0) AS alone_count,
        avg(duration_ns) FILTER (beside_ns = 0) AS alone_mean_ns
    FROM measured
    SEMI JOIN shaped USING (input_shapes_id)
    GROUP BY type_id, name_id, input_shapes_id
    HAVING beside_count > 0 AND alone_count > 0
)
SELECT
    type_id,
    beside_mean_ns / alone_mean_ns AS slowdown,
    round((beside_mean_ns - alone_mean_ns) * beside_count)::BIGINT AS lost_ns,
    beside_count,
    beside_mean_ns,
    alone_count,
    alone_mean_ns,
    input_shapes_id,
    name_id
FROM compared
ORDER BY lost_ns DESC, name_id, type_id, input_shapes_id
