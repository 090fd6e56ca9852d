-- One row is a layer, of a kind or irregular, with its pass and its number in that pass.
--
-- layer_id        BIGINT   number, in the order of time
-- pass            BIGINT   which pass through the layers, from 0
-- layer           BIGINT   which layer of the pass, from 0
-- is_draft        BOOLEAN  whether it follows the layers of the model: it predicts further tokens, or is of a draft model
-- stretch         BIGINT   which run of layers without kernels between them, from 0
-- kind            BIGINT   a kind of layer.kind; NULL for an irregular layer
-- part_of_kind    BIGINT   of a layer that the edge of the profile cuts, the kind that it is a part of; NULL where several
--                          kinds have such a part, and for other layers
-- first_position  BIGINT   position of its first kernel, as in layer.segment_kernel
-- core_position   BIGINT   position of the first kernel after the norm that opens it
-- last_position   BIGINT   position of its last kernel
-- opening_count   BIGINT   kernels that open a layer of this kind; NULL for an irregular one
-- reason          VARCHAR  why it is irregular; NULL where it is not
--
-- A layer that the profile cuts counts where its attention ends. What comes in front of that at the end of the profile is no
-- layer, so profiles that follow each other count each layer once.
-- A stretch is a pass, except for a short one after a long one: layers that predict further tokens (MTP) and small draft models
-- are the last layers of the pass before. A stretch at the end of the profile is short because it is cut, if it begins like a
-- long one. Stretches of 8, 1, 8, 1, 8 and 2 layers, the last of them at the end, are four passes of 9, 9, 8 and 2 layers.
-- A first pass that has fewer layers, the same as the last ones of the longest pass, begins before the profile.
WITH threshold AS (
    SELECT 0.25 AS short_share
),
found_layer AS (
    SELECT
        boundary.*,
        core.symbols,
        kind.kind,
        kind.opening_count,
        cut.kind AS part_of_kind,
        CASE
            WHEN kind.kind IS NOT NULL THEN NULL
            WHEN cut.reason IS NOT NULL THEN cut.reason
            WHEN has_head AND has_tail THEN 'has other kernels at its end'
            WHEN has_tail THEN 'begins with other kernels'
            WHEN has_head THEN 'goes on with other kernels'
            ELSE 'has other kernels'
        END AS reason
    FROM layer.boundary
    JOIN layer.core USING (layer_id)
    LEFT JOIN layer.kind ON kind.symbols = core.symbols
    LEFT JOIN layer.cut USING (layer_id)
    WHERE NOT coalesce(cut.is_in_front, false)
),
separated AS (
    SELECT *, coalesce(lag(last_position) OVER (ORDER BY layer_id) + 1 < first_position, false) AS begins_stretch
    FROM found_layer
),
in_stretch AS (
    SELECT *, sum(if(begins_stretch, 1, 0)) OVER (ORDER BY layer_id ROWS UNBOUNDED PRECEDING) AS stretch
    FROM separated
),
stretch AS (
    SELECT
        stretch,
        count(*) AS layer_count,
        max(last_position) AS last_position,
        arg_min(symbols, layer_id) AS first_symbols,
        count(*) <= short_share * max(count(*)) OVER () AS is_short
    FROM in_stretch
    CROSS JOIN threshold
    GROUP BY stretch, short_share
),
like_long AS (
    SELECT DISTINCT stretch.stretch
    FROM stretch
    -- All pairs: stretches of layers are few.
    JOIN (
        SELECT DISTINCT symbols
        FROM in_stretch
        JOIN stretch USING (stretch)
        WHERE NOT is_short
    ) AS long ON long.symbols[:len(stretch.first_symbols)] = stretch.first_symbols
    WHERE stretch.is_short
),
with_appended AS (
    SELECT
        stretch,
        layer_count,
        stretch > 0
        AND is_short
        AND (last_position < (SELECT max(position) FROM layer.segment_kernel) OR like_long.stretch IS NULL) AS is_appended
    FROM stretch
    LEFT JOIN like_long USING (stretch)
),
in_pass AS (
    SELECT
        *,
        sum(if(is_appended OR stretch = 0, 0, 1)) OVER (ORDER BY stretch ROWS UNBOUNDED PRECEDING) AS pass,
        max(layer_count) FILTER (NOT is_appended) OVER () AS model_count
    FROM with_appended
),
passes AS (
    SELECT
        pass,
        list(coalesce(kind, part_of_kind) ORDER BY layer_id) AS kinds,
        arg_min(reason IS NOT NULL, layer_id) AS begins_irregular
    FROM in_stretch
    JOIN in_pass USING (stretch)
    GROUP BY pass
),
-- How many layers of the first pass came before the profile.
missed AS (
    SELECT len(longest.kinds) - len(first.kinds) AS layer_count
    FROM passes AS first
    CROSS JOIN (SELECT arg_max(kinds, (len(kinds), -pass)) AS kinds FROM passes) AS longest
    WHERE first.pass = 0
      AND first.kinds[1 + begins_irregular::BIGINT:]
          = longest.kinds[len(longest.kinds) - len(first.kinds) + 1 + begins_irregular::BIGINT:]
),
numbered_layer AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY pass ORDER BY layer_id) - 1
            + if(pass = 0, coalesce((SELECT layer_count FROM missed), 0), 0) AS layer
    FROM in_stretch
    JOIN in_pass USING (stretch)
)
SELECT
    layer_id,
    pass::BIGINT AS pass,
    layer,
    is_appended OR pass = 0 AND layer >= model_count AS is_draft,
    stretch::BIGINT AS stretch,
    kind,
    part_of_kind,
    first_position,
    core_position,
    last_position,
    opening_count,
    reason
FROM numbered_layer
