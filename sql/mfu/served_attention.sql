-- One row is a kernel of attention over a cache of keys, in a pass that annotations mark, and its FLOPs by the lengths of the
-- requests in that pass.
--
-- @guard mfu.served_shape
--
-- kernel_id     BIGINT   a kernel of mfu.cube_kernel
-- marked_id     BIGINT   the pass of pass.marked
-- part          VARCHAR  requests that it attends for: prefill, decode or all; NULL when not known
-- flops         BIGINT   2 * heads * (Dq + Dv) * pairs of a query and a key; of several kernels of an op, its share by time;
--                        NULL when not known
-- halved_flops  BIGINT   the same as TraceLens counts pairs, as in mfu.served_sum; NULL when not known
-- bytes         BIGINT   bytes of queries, results, and the keys and values of the requests, each once; NULL when not known
-- reason        VARCHAR  why flops is NULL
--
-- Where kernels of the pass are attention of prefill alone and others of decode alone, each has its part. Elsewhere a call with
-- fewer queries than the pass is of the part with as many. A window of keys is in no shape: all keys count.
WITH attending AS (
    SELECT
        serving_kernel.kernel_id,
        marked_kernel.marked_id,
        coalesce(op_kernel.op_id, -kernel.kernel_id - 1) AS call_id,
        kernel.start_ns,
        kernel.duration_ns,
        served_shape.* EXCLUDE (shape_id),
        CASE serving_kernel.part WHEN 'prefill attention' THEN 'prefill' WHEN 'decode attention' THEN 'decode' END AS named,
        bool_or(serving_kernel.part = 'prefill attention') OVER of_pass
        AND bool_or(serving_kernel.part = 'decode attention') OVER of_pass AS is_apart
    FROM trace.serving_kernel
    JOIN pass.marked_kernel USING (kernel_id)
    JOIN mfu.cube_kernel USING (kernel_id)
    LEFT JOIN mfu.op_kernel USING (kernel_id)
    JOIN mfu.served_shape ON served_shape.shape_id = cube_kernel.shape_id
    JOIN trace.kernel USING (kernel_id)
    WHERE serving_kernel.part IN ('prefill attention', 'decode attention', 'attention')
    WINDOW of_pass AS (PARTITION BY marked_kernel.marked_id)
),
query AS (
    SELECT
        marked_id,
        max(query_count) FILTER (part = 'all') AS all_count,
        max(query_count) FILTER (part = 'prefill') AS prefill_count,
        max(query_count) FILTER (part = 'decode') AS decode_count
    FROM mfu.served_sum
    GROUP BY marked_id
),
chosen AS (
    SELECT
        attending.*,
        CASE
            WHEN is_apart AND named IS NOT NULL THEN named
            WHEN query_count >= query.all_count THEN 'all'
            WHEN query_count = query.decode_count THEN 'decode'
            WHEN query_count = query.prefill_count THEN 'prefill'
        END AS part
    FROM attending
    LEFT JOIN query USING (marked_id)
    -- Of several readings, the one with as many queries as the pass; else the one with the fewest more.
    QUALIFY row_number() OVER (
        PARTITION BY attending.kernel_id
        ORDER BY
            coalesce(query_count IN (query.all_count, query.decode_count, query.prefill_count), false) DESC,
            part IS NULL,
            query_count,
            flops_per_pair,
            bytes_per_key
    ) = 1
),
costing AS (
    SELECT
        chosen.kernel_id,
        chosen.marked_id,
        chosen.part,
        chosen.duration_ns,
        sum(chosen.duration_ns) OVER (of_call ORDER BY chosen.start_ns, chosen.kernel_id ROWS UNBOUNDED PRECEDING) AS until_ns,
        sum(chosen.duration_ns) OVER of_call AS all_ns,
        TRY_CAST(TRY(flops_per_pair * served_sum.pair_count) AS BIGINT) AS flops,
        TRY_CAST(TRY(flops_per_pair * served_sum.twice_halved_count) // 2 AS BIGINT) AS halved_flops,
        TRY_CAST(
            TRY(bytes_per_query::HUGEINT * served_sum.query_count + bytes_per_key::HUGEINT * served_sum.key_count) AS BIGINT
        ) AS bytes,
        CASE
            WHEN flops_per_pair IS NULL THEN 'the shapes do not fit the op'
            WHEN total.reason IS NOT NULL AND served_sum.pair_count IS NULL THEN total.reason
            WHEN chosen.part IS NULL THEN 'its queries are not those that the annotation of the pass says'
        END AS reason
    FROM chosen
    LEFT JOIN mfu.served_sum ON served_sum.marked_id = chosen.marked_id AND served_sum.part = chosen.part
    LEFT JOIN mfu.served_sum AS total ON total.marked_id = chosen.marked_id AND total.part = 'all'
    WINDOW of_call AS (PARTITION BY chosen.call_id, chosen.part)
)
SELECT
    kernel_id,
    marked_id,
    part,
    part_of(flops, duration_ns, until_ns, all_ns) AS flops,
    part_of(halved_flops, duration_ns, until_ns, all_ns) AS halved_flops,
    if(flops IS NULL, NULL, part_of(bytes, duration_ns, until_ns, all_ns)) AS bytes,
    CASE WHEN flops IS NULL THEN coalesce(reason, 'the shapes are too large to be true') END AS reason
FROM costing
