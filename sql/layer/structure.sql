-- One row is the rank: what repeats in its main stream, and where all its compute time is.
--
-- stream_id               BIGINT   the main stream, which has most compute time; NULL where streams are not recorded
-- kernel_count            BIGINT   compute kernels on it
-- layer_count             BIGINT   layers that were found; NULL where no period is convincing
-- alike_count             BIGINT   of them such as are of a kind; NULL where no period is convincing
-- kind_count              BIGINT   kinds of layers; NULL where no period is convincing
-- pass_count              BIGINT   passes through the layers; NULL where no period is convincing
-- kernels_of_layers       VARCHAR  kernels of a layer of each kind and how many such layers there are, as in 12 x 63; NULL alike
-- alike_ns                BIGINT   kernel time in layers of a kind, ns
-- irregular_ns            BIGINT   kernel time in irregular layers, ns
-- prologue_ns             BIGINT   kernel time before the first layer, ns
-- between_ns              BIGINT   kernel time between passes, ns
-- epilogue_ns             BIGINT   kernel time behind the last layer, ns
-- unstructured_ns         BIGINT   kernel time of the main stream where no period is convincing, ns
-- other_streams_ns        BIGINT   compute time on other streams, ns
-- reason                  VARCHAR  why no period is convincing; NULL where one is
WITH part AS (
    SELECT
        count(*) AS kernel_count,
        sum(end_ns - start_ns) FILTER (kind IS NOT NULL) AS alike_ns,
        sum(end_ns - start_ns) FILTER (layer_id IS NOT NULL AND kind IS NULL) AS irregular_ns,
        sum(end_ns - start_ns) FILTER (part = 'prologue') AS prologue_ns,
        sum(end_ns - start_ns) FILTER (part = 'between passes') AS between_ns,
        sum(end_ns - start_ns) FILTER (part = 'epilogue') AS epilogue_ns,
        sum(end_ns - start_ns) FILTER (part IS NULL) AS unstructured_ns,
        sum(end_ns - start_ns) AS main_stream_ns,
        count(DISTINCT pass) AS pass_count
    FROM layer.kernel
),
compute AS (
    SELECT sum(duration_ns) AS compute_ns
    FROM kernel.chosen
    WHERE kind = 'compute'
),
stream AS (
    SELECT min(stream_id) AS stream_id
    FROM layer.sequence
),
layers AS (
    SELECT count(*) AS layer_count, count(kind) AS alike_count
    FROM layer.found
),
of_kind AS (
    SELECT kind.kind, kind.kernel_count, count(found.kind) AS layer_count
    FROM layer.kind
    LEFT JOIN layer.found USING (kind)
    GROUP BY kind.kind, kind.kernel_count
),
kinds AS (
    SELECT
        count(*) AS kind_count,
        string_agg(format('{} x {}', kernel_count, layer_count), ', ' ORDER BY kind) AS kernels_of_layers
    FROM of_kind
),
repeated AS (
    SELECT
        count(*) FILTER (is_repeated) AS segment_count,
        max(len(symbols)) FILTER (is_repeated) AS longest,
        sum(len(symbols)) FILTER (is_repeated AND len(symbols) >= 4) / sum(len(symbols)) AS share
    FROM layer.segment
)
SELECT
    stream_id,
    part.kernel_count,
    if(kind_count > 0, layer_count, NULL) AS layer_count,
    if(kind_count > 0, alike_count, NULL) AS alike_count,
    nullif(kind_count, 0) AS kind_count,
    if(kind_count > 0, pass_count, NULL) AS pass_count,
    kernels_of_layers,
    coalesce(alike_ns, 0)::BIGINT AS alike_ns,
    coalesce(irregular_ns, 0)::BIGINT AS irregular_ns,
    coalesce(prologue_ns, 0)::BIGINT AS prologue_ns,
    coalesce(between_ns, 0)::BIGINT AS between_ns,
    coalesce(epilogue_ns, 0)::BIGINT AS epilogue_ns,
    coalesce(unstructured_ns, 0)::BIGINT AS unstructured_ns,
    (compute_ns - main_stream_ns)::BIGINT AS other_streams_ns,
    CASE
        WHEN kind_count > 0 THEN NULL
        WHEN coalesce(segment_count, 0) = 0 THEN 'no kind of kernel comes back with the same kernels in between'
        WHEN longest < 4 THEN format('what repeats has {} kernels at most, and a layer has 4 or more', longest)
        ELSE format('what repeats holds {:.0f}% of the kernels of the main stream, and layers hold half or more', 100 * coalesce(share, 0))
    END AS reason
FROM part
JOIN compute ON true
JOIN stream ON true
JOIN layers ON true
JOIN kinds ON true
JOIN repeated ON true
WHERE part.kernel_count > 0
