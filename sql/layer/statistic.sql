-- One row is a position in a kind of layer, and a symbol there: the first kernel of these layers, the second, and so on, over
-- all layers and passes.
--
-- kind          BIGINT   kind of layer: layers of one kind have the same kernels
-- layer_count   BIGINT   layers of this kind
-- position      BIGINT   which kernel of the layer, from 1
-- type_id       TEXT_ID  operator type, such as MatMulV3, the usual one of kernels of its name; NULL when it is not known
-- core_id       TEXT_ID  cores it ran on, such as AI_CORE or MIX_AIC; NULL when not recorded
-- name_id       TEXT_ID  name of the kernel, the first in the alphabet where they differ
-- kernel_count  BIGINT   kernels
-- total_ns      BIGINT   their time, ns
-- @columns mean_ns to max_ns as in kernels.statistic
-- mean_gap_ns   DOUBLE   mean time from the end of the previous kernel in the sequence to its start, ns; below 0 where they
--                        overlap; NULL where there is no previous one
-- share         DOUBLE   part of the kernel time of this kind of layer; NULL when it took no time
WITH following AS (
    SELECT
        kind,
        position,
        symbol,
        name_id,
        type_id,
        core_id,
        start_ns,
        end_ns,
        start_ns - lag(end_ns) OVER (ORDER BY sequence_position) AS gap_ns
    FROM layer.kernel_layer
),
counted_kernel AS (
    SELECT
        kind,
        position,
        symbol,
        type_id,
        core_id,
        end_ns - start_ns AS duration_ns,
        gap_ns,
        name.text AS name,
        name_id
    FROM following
    LEFT JOIN trace.string AS name ON name.text_id = following.name_id
    WHERE kind IS NOT NULL AND position IS NOT NULL
),
total AS (
    SELECT
        kind,
        position,
        type_id,
        core_id,
        arg_min(name_id, name) AS name_id,
        min(name) AS name,
        count(*) AS kernel_count,
        sum(duration_ns)::BIGINT AS total_ns,
        quantile_disc(duration_ns, 0.5) AS median_ns,
        quantile_disc(duration_ns, 0.95) AS p95_ns,
        min(duration_ns) AS min_ns,
        max(duration_ns) AS max_ns,
        sum(gap_ns) / nullif(count(gap_ns), 0) AS mean_gap_ns
    FROM counted_kernel
    GROUP BY kind, position, symbol, type_id, core_id
)
SELECT
    kind,
    layer_count,
    position,
    type_id,
    core_id,
    name_id,
    total.kernel_count,
    total_ns,
    total_ns / total.kernel_count AS mean_ns,
    median_ns,
    p95_ns,
    min_ns,
    max_ns,
    mean_gap_ns,
    total_ns / nullif(sum(total_ns) OVER (PARTITION BY kind), 0) AS share
FROM total
JOIN layer.kind USING (kind)
LEFT JOIN trace.string AS type ON type.text_id = total.type_id
ORDER BY kind, position, type.text, total.name
