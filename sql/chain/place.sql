-- One row is a compute kernel or copy and its place in the sequence of its stream. Fills of memory have no place.
--
-- kernel_id  BIGINT   a kernel of trace.kernel
-- stream     BIGINT   number of device and stream, from 1
-- place      BIGINT   place in the order of starts on the stream, from 1
-- symbol     VARCHAR  as in chain.symbol; O for what an optimizer computes by ops on single tensors; M for a
--                     kernel whose name alone says that it multiplies matrices
WITH asked AS (
    SELECT kernel_id, tid, asked_ns
    FROM kernels.asked
),
recorded_op AS (
    SELECT tid, name_id, start_ns, end_ns
    FROM trace.op
),
op_name AS (
    SELECT text_id, text
    FROM trace.string
),
of_optimizer AS (
    FROM kernels_of_optimizers(asked, recorded_op, op_name)
),
filled AS (
    SELECT kernel_id
    FROM trace.copy
    WHERE direction = 'fill' AND kernel_id IS NOT NULL
),
kernel AS (
    SELECT
        kernel.kernel_id,
        kernel.device_id,
        kernel.stream_id,
        kernel.start_ns,
        CASE
            WHEN of_optimizer.kernel_id IS NOT NULL AND symbol.symbol IN ('x', 'd', 'a', 'b', 'p', 'q', 'L', 'A', 'D') THEN 'O'
            WHEN symbol.symbol = '.' AND device.core_id IS NULL AND device.engine = 'matrix' THEN 'M'
            ELSE symbol.symbol
        END AS symbol
    FROM module.kernel
    JOIN trace.kernel AS device USING (kernel_id)
    JOIN chain.symbol
        ON symbol.name_id IS NOT DISTINCT FROM kernel.name_id
        AND symbol.type_id IS NOT DISTINCT FROM kernel.type_id
        AND symbol.op_name_id IS NOT DISTINCT FROM kernel.op_name_id
    LEFT JOIN of_optimizer USING (kernel_id)
    WHERE kernel.kind IN ('compute', 'copy') AND kernel.kernel_id NOT IN (FROM filled)
),
stream AS (
    SELECT device_id, stream_id, row_number() OVER (ORDER BY device_id, stream_id) AS number
    FROM (SELECT DISTINCT device_id, stream_id FROM kernel)
)
SELECT
    kernel.kernel_id,
    stream.number AS stream,
    row_number() OVER (PARTITION BY stream.number ORDER BY kernel.start_ns, kernel.kernel_id) AS place,
    kernel.symbol
FROM kernel
JOIN stream
    ON stream.device_id IS NOT DISTINCT FROM kernel.device_id AND stream.stream_id IS NOT DISTINCT FROM kernel.stream_id
