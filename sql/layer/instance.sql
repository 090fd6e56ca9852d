-- One row is a layer, of a kind or irregular, with its pass and its number in that pass.
--
-- layer_id        BIGINT   number, in the order of time
-- pass            BIGINT   which pass through the layers, from 0
-- layer           BIGINT   which layer of the pass, from 0
-- stretch         BIGINT   which run of layers without kernels between them, from 0
-- kind            BIGINT   a kind of layer.kind; NULL for an irregular layer
-- first_position  BIGINT   position of its first kernel, as in layer.segment_kernel
-- core_position   BIGINT   position of the first kernel after the norm that opens it
-- last_position   BIGINT   position of its last kernel
-- opening_count   BIGINT   kernels that open a layer of this kind; NULL for an irregular one
-- reason          VARCHAR  why it is irregular; NULL where it is not
--
-- A stretch is a pass, except for a short one after a long one: layers that predict further tokens (MTP) and small draft models
-- are the last layers of the pass before. A stretch at the end of the profile is short because it is cut.
-- Stretches of 8, 1, 8, 1, 8 and 2 layers, the last of them at the end, are four passes of 9, 9, 8 and 2 layers.
WITH threshold AS (
    SELECT 0.25 AS short_share
),
separated AS (
    SELECT *, coalesce(lag(last_position) OVER (ORDER BY layer_id) + 1 < first_position, false) AS begins_stretch
    FROM layer.boundary
),
in_stretch AS (
    SELECT *, sum(if(begins_stretch, 1, 0)) OVER (ORDER BY layer_id ROWS UNBOUNDED PRECEDING) AS stretch
    FROM separated
),
stretch AS (
    SELECT stretch, count(*) AS layer_count, max(last_position) AS last_position
    FROM in_stretch
    GROUP BY stretch
),
with_appended AS (
    SELECT
        stretch,
        stretch > 0
        AND layer_count <= short_share * max(layer_count) OVER ()
        AND last_position < (SELECT max(position) FROM layer.segment_kernel) AS is_appended
    FROM stretch
    CROSS JOIN threshold
),
passes AS (
    SELECT stretch, sum(if(is_appended OR stretch = 0, 0, 1)) OVER (ORDER BY stretch ROWS UNBOUNDED PRECEDING) AS pass
    FROM with_appended
)
SELECT
    layer_id,
    pass::BIGINT AS pass,
    row_number() OVER (PARTITION BY pass ORDER BY layer_id) - 1 AS layer,
    stretch::BIGINT AS stretch,
    kind.kind,
    first_position,
    core_position,
    last_position,
    kind.opening_count,
    CASE
        WHEN kind.kind IS NOT NULL THEN NULL
        WHEN has_head AND has_tail THEN 'has other kernels at its end'
        WHEN has_tail THEN 'begins with other kernels'
        WHEN has_head THEN 'goes on with other kernels'
        ELSE 'has other kernels'
    END AS reason
FROM in_stretch
JOIN passes USING (stretch)
JOIN layer.core USING (layer_id)
LEFT JOIN layer.kind USING (symbols)
