-- One row is a layer over all passes: the first layer of each, the second, and so on, by kind.
--
-- layer         BIGINT   which layer of a pass, from 0
-- kind          BIGINT   kind of layer: layers of one kind have the same kernels; NULL for irregular ones
-- pass_count    BIGINT   passes in which the layer is of this kind
-- kernel_count  DOUBLE   mean number of kernels of the model in it
-- total_ns      BIGINT   time of its kernels in all passes, ns
-- mean_ns       DOUBLE   mean per pass, ns
-- median_ns     BIGINT   the smallest time that at least half of the passes do not exceed, ns
-- p95_ns        BIGINT   the smallest time that at least 95 % of the passes do not exceed, ns
-- min_ns        BIGINT   shortest time, ns
-- max_ns        BIGINT   longest time, ns
-- mean_span_ns  DOUBLE   mean time from the start of its first kernel to the end of its last, ns
-- share         DOUBLE   part of the kernel time of all layers; NULL when they took no time
SELECT
    layer,
    kind,
    count(*) AS pass_count,
    sum(kernel_count) / count(*) AS kernel_count,
    sum(duration_ns)::BIGINT AS total_ns,
    sum(duration_ns) / count(*) AS mean_ns,
    quantile_disc(duration_ns, 0.5) AS median_ns,
    quantile_disc(duration_ns, 0.95) AS p95_ns,
    min(duration_ns) AS min_ns,
    max(duration_ns) AS max_ns,
    sum(span_ns) / count(*) AS mean_span_ns,
    sum(duration_ns) / nullif(sum(sum(duration_ns)) OVER (), 0) AS share
FROM layer.pass_layer
GROUP BY layer, kind
ORDER BY layer, kind
