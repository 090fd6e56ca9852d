-- One row is a kernel whose launch, or its op, began in a pass that annotations mark: the last that had begun. What follows a
-- draft model in a pass belongs to the passes of that.
--
-- @guard pass.marked
-- @unique inner_pass by start_ns: those that begin together are one
-- @unique outer_pass by start_ns: those that begin together are one
--
-- kernel_id  BIGINT  a kernel of trace.kernel
-- marked_id  BIGINT  the pass of pass.marked
WITH begun AS (
    SELECT start_ns, is_inner, max(end_ns) AS end_ns, arg_max(marked_id, (end_ns, marked_id)) AS marked_id
    FROM pass.marked
    GROUP BY start_ns, is_inner
),
inner_pass AS (
    FROM begun
    WHERE is_inner
),
outer_pass AS (
    FROM begun
    WHERE NOT is_inner
),
placed AS (
    SELECT
        asked.kernel_id,
        CASE
            WHEN asked.asked_ns < outer_pass.end_ns
                THEN if(inner_pass.start_ns >= outer_pass.start_ns, inner_pass.marked_id, outer_pass.marked_id)
        END AS marked_id
    FROM kernels.asked
    ASOF JOIN outer_pass ON asked.asked_ns >= outer_pass.start_ns
    ASOF LEFT JOIN inner_pass ON asked.asked_ns >= inner_pass.start_ns
)
FROM placed
WHERE marked_id IS NOT NULL
