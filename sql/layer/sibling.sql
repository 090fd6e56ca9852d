-- One row is a layer over all passes among the layers of its kind: the first layer of each pass, the second, and so on, beside
-- others with the same kernels.
--
-- layer           BIGINT   which layer of a pass, from 0
-- kind            BIGINT   kind of layer: layers of one kind have the same kernels
-- sibling_count   BIGINT   layers of this kind, itself included
-- pass_count      BIGINT   passes in which the layer is of this kind
-- total_ns        BIGINT   time of its kernels in all passes, ns
-- critical_ns     BIGINT   part of total_ns in critical kernels, as in critical.kernel: where it is 0, faster kernels win
--                          nothing
-- median_ns       BIGINT   the smallest time that at least half of the passes do not exceed, ns
-- usual_ns        BIGINT   the median of median_ns over the layers of this kind, ns
-- deviation_ns    BIGINT   median of the absolute differences from usual_ns of their median_ns, ns
-- slower_type_id  TEXT_ID  type of the kernel of the layer that takes most time above the median of these layers; NULL when it
--                          is not known, or none takes more
-- slower_ns       BIGINT   how much more it takes in all passes, ns; NULL when none does
WITH kernel AS (
    SELECT
        layer.pass,
        layer.layer,
        layer.kind,
        layer.position,
        layer.type_id,
        layer.end_ns - layer.start_ns AS duration_ns,
        coalesce(critical.critical_ns, 0) AS critical_ns
    FROM layer.kernel_layer AS layer
    LEFT JOIN critical.kernel AS critical USING (kernel_id)
    WHERE layer.kind IS NOT NULL
),
of_pass AS (
    SELECT layer, kind, pass, sum(duration_ns)::BIGINT AS duration_ns, sum(critical_ns)::BIGINT AS critical_ns
    FROM kernel
    GROUP BY layer, kind, pass
),
timed_layer AS (
    SELECT
        layer,
        kind,
        count(*) AS pass_count,
        sum(duration_ns)::BIGINT AS total_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        quantile_disc(duration_ns, 0.5) AS median_ns
    FROM of_pass
    GROUP BY layer, kind
),
compared_layer AS (
    SELECT *, count(*) OVER of_kind AS sibling_count, quantile_disc(median_ns, 0.5) OVER of_kind AS usual_ns
    FROM timed_layer
    WINDOW of_kind AS (PARTITION BY kind)
),
at_position AS (
    SELECT layer, kind, position, type_id, count(*) AS kernel_count, sum(duration_ns)::BIGINT AS duration_ns
    FROM kernel
    WHERE position IS NOT NULL
    GROUP BY layer, kind, position, type_id
),
above AS (
    SELECT
        *,
        duration_ns - kernel_count * quantile_disc(duration_ns // kernel_count, 0.5) OVER (PARTITION BY kind, position, type_id)
            AS above_ns
    FROM at_position
),
slower AS (
    SELECT layer, kind, type_id, above_ns
    FROM above
    WHERE above_ns > 0
    QUALIFY row_number() OVER (PARTITION BY layer, kind ORDER BY above_ns DESC, position) = 1
)
SELECT
    compared_layer.layer,
    compared_layer.kind,
    compared_layer.sibling_count,
    compared_layer.pass_count,
    compared_layer.total_ns,
    compared_layer.critical_ns,
    compared_layer.median_ns,
    compared_layer.usual_ns,
    quantile_disc(abs(compared_layer.median_ns - compared_layer.usual_ns), 0.5) OVER (PARTITION BY compared_layer.kind)
        AS deviation_ns,
    slower.type_id AS slower_type_id,
    slower.above_ns AS slower_ns
FROM compared_layer
LEFT JOIN slower USING (layer, kind)
ORDER BY compared_layer.layer, compared_layer.kind
