-- One row is the rank: the layers in the sequence of its kernels, and where all its compute time went.
--
-- streams                 VARCHAR  streams on which the model runs, in the order of their first kernels, as in 2, 139, 141;
--                                  NULL where streams are not recorded
-- beside_streams          VARCHAR  streams that run beside these, in the same order; those of another device with its number,
--                                  as in 1:2; NULL without any
-- kernel_count            BIGINT   compute kernels of the model, in one sequence
-- layer_count             BIGINT   layers found; NULL where no period is convincing
-- alike_count             BIGINT   layers that are of a kind; NULL where no period is convincing
-- kind_count              BIGINT   kinds of layers; NULL where no period is convincing
-- pass_count              BIGINT   passes through the layers, also those that the profile cuts; NULL where no period is
--                                  convincing
-- whole_pass_count        BIGINT   passes that have all layers of a pass; NULL where no period is convincing
-- pass_layer_count        BIGINT   layers of the model in a pass, the most that one has; NULL where no period is convincing
-- draft_count             BIGINT   layers that follow those of the model in their pass: they predict further tokens, or are of
--                                  a draft model; NULL where no period is convincing
-- kernels_of_layers       VARCHAR  kernels of a layer of each kind, and how many such layers there are, also those that the
--                                  edge of the profile cuts, as in 12 x 63; NULL where no period is convincing
-- alike_ns                BIGINT   kernel time in layers of a kind, ns
-- irregular_ns            BIGINT   kernel time in irregular layers, ns
-- prologue_ns             BIGINT   kernel time before the first layer, ns
-- between_ns              BIGINT   kernel time between passes, ns
-- epilogue_ns             BIGINT   kernel time after the last layer, ns
-- unstructured_ns         BIGINT   kernel time of the sequence where no period is convincing, ns
-- other_streams_ns        BIGINT   compute time outside the sequence, ns: on other streams, and of kernels that run beside
--                                  others of the model
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
        sum(end_ns - start_ns) AS sequence_ns
    FROM layer.kernel_layer
),
compute AS (
    SELECT sum(duration_ns) AS compute_ns
    FROM kernels.selected
    WHERE kind = 'compute'
),
stream AS (
    SELECT
        string_agg(shown, ', ' ORDER BY first_ns, busy_rank) FILTER (is_of_model) AS streams,
        string_agg(shown, ', ' ORDER BY first_ns, busy_rank) FILTER (NOT is_of_model) AS beside_streams
    FROM (
        SELECT
            *,
            if(
                device_id IS NOT DISTINCT FROM first_value(device_id) OVER (ORDER BY busy_rank),
                stream_id::VARCHAR,
                format('{}:{}', device_id, coalesce(stream_id::VARCHAR, '-'))
            ) AS shown
        FROM layer.stream
    )
),
layers AS (
    SELECT count(*) AS layer_count, count(kind) AS alike_count, count(*) FILTER (is_draft) AS draft_count
    FROM layer.instance
),
passes AS (
    SELECT
        count(*) AS pass_count,
        max(layer_count) AS pass_layer_count,
        count(*) FILTER (layer_count = most) AS whole_pass_count
    FROM (
        SELECT count(*) FILTER (NOT is_draft) AS layer_count, max(count(*) FILTER (NOT is_draft)) OVER () AS most
        FROM layer.instance
        GROUP BY pass
    )
),
cut AS (
    SELECT part_of_kind AS kind, count(*) AS cut_count
    FROM layer.instance
    WHERE part_of_kind IS NOT NULL
    GROUP BY part_of_kind
),
kinds AS (
    SELECT
        count(*) AS kind_count,
        string_agg(format('{} x {}', kernel_count, layer_count + coalesce(cut_count, 0)), ', ' ORDER BY kind)
            AS kernels_of_layers
    FROM layer.kind
    LEFT JOIN cut USING (kind)
),
repeated_segment AS (
    SELECT
        count(*) FILTER (is_repeated) AS segment_count,
        max(len(symbols)) FILTER (is_repeated) AS longest,
        sum(len(symbols)) FILTER (is_repeated AND len(symbols) >= 4) / sum(len(symbols)) AS share
    FROM layer.segment
)
SELECT
    streams,
    beside_streams,
    part.kernel_count,
    if(kind_count > 0, layer_count, NULL) AS layer_count,
    if(kind_count > 0, alike_count, NULL) AS alike_count,
    nullif(kind_count, 0) AS kind_count,
    if(kind_count > 0, pass_count, NULL) AS pass_count,
    if(kind_count > 0, whole_pass_count, NULL) AS whole_pass_count,
    if(kind_count > 0, pass_layer_count, NULL) AS pass_layer_count,
    if(kind_count > 0, draft_count, NULL) AS draft_count,
    kernels_of_layers,
    coalesce(alike_ns, 0)::BIGINT AS alike_ns,
    coalesce(irregular_ns, 0)::BIGINT AS irregular_ns,
    coalesce(prologue_ns, 0)::BIGINT AS prologue_ns,
    coalesce(between_ns, 0)::BIGINT AS between_ns,
    coalesce(epilogue_ns, 0)::BIGINT AS epilogue_ns,
    coalesce(unstructured_ns, 0)::BIGINT AS unstructured_ns,
    (compute_ns - sequence_ns)::BIGINT AS other_streams_ns,
    CASE
        WHEN kind_count > 0 THEN NULL
        WHEN coalesce(segment_count, 0) = 0 THEN 'no kind of kernel comes back with the same kernels in between'
        WHEN longest < 4 THEN format('what repeats has {} kernels at most, and a layer has 4 or more', longest)
        WHEN share >= 0.5 THEN 'what repeats goes over the end of a pass, and layers do not'
        ELSE format(
            'only {:.0f}% of the kernels of the model repeat; layers would be half of them or more', 100 * coalesce(share, 0)
        )
    END AS reason
FROM part
CROSS JOIN compute
CROSS JOIN stream
CROSS JOIN layers
CROSS JOIN passes
CROSS JOIN kinds
CROSS JOIN repeated_segment
WHERE part.kernel_count > 0
