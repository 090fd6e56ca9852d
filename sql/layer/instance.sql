-- One row is a layer, of a kind or irregular, with its number in the pass that it is of.
--
-- layer_id        BIGINT   number, in the order of time
-- pass            BIGINT   which pass through the layers, from 0
-- layer           BIGINT   which layer of the pass, from 0
-- stretch         BIGINT   which stretch of layers without kernels between them it is of, from 0
-- kind            BIGINT   which kind of layer of layer.kind; of an irregular one NULL
-- first_position  BIGINT   position of its first kernel, as in layer.segment_kernel
-- core_position   BIGINT   position of the first kernel behind the norm that opens it
-- last_position   BIGINT   position of its last kernel
-- opening_count   BIGINT   how many kernels open a layer of this kind; NULL of an irregular one
-- reason          VARCHAR  why it is irregular; NULL where it is not
--
-- A stretch is a pass, but for a short one behind a long one: layers that predict further tokens (MTP) and small draft models
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
judged AS (
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
    FROM judged
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
