-- One row is a pass that the layers in the sequence of kernels show, where no choice of tokens does, with the moment when it
-- begins on the device. Layers behind those of the model, of a draft model, are a pass of their own. Of the kernels between the
-- layers of two passes, those before the longest gap belong to the first one; what comes before all layers belongs to the first
-- pass.
--
-- @guard pass.without_choice
--
-- start_ns  BIGINT   start of its first kernel on the device, Unix ns
-- is_draft  BOOLEAN  whether its layers are those of a draft model
WITH in_order AS (
    SELECT
        kernel_layer.sequence_position,
        kernel_layer.pass,
        coalesce(instance.is_draft, false) AS is_draft,
        kernel_layer.layer_id IS NOT NULL AS is_in_layer,
        kernel_layer.start_ns,
        max(kernel_layer.end_ns) OVER (
            ORDER BY kernel_layer.sequence_position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_ns
    FROM layer.kernel_layer
    LEFT JOIN layer.instance USING (layer_id)
),
numbered AS (
    SELECT
        *,
        sum(if(is_in_layer AND (pass, is_draft) IS DISTINCT FROM before, 1, 0)) OVER (
            ORDER BY sequence_position ROWS UNBOUNDED PRECEDING
        ) AS number
    FROM (
        SELECT
            *,
            lag(if(is_in_layer, (pass, is_draft), NULL) IGNORE NULLS) OVER (ORDER BY sequence_position) AS before
        FROM in_order
    )
),
-- The kernels of a pass after its last layer, and the first kernel of the next one.
last_in_layer AS (
    SELECT number, max(sequence_position) FILTER (is_in_layer) AS last_position
    FROM numbered
    WHERE number > 0
    GROUP BY number
),
boundary AS (
    SELECT
        numbered.number + 1 - (numbered.is_in_layer)::BIGINT AS number,
        numbered.start_ns,
        numbered.start_ns - numbered.reached_ns AS gap_ns,
        numbered.sequence_position
    FROM numbered
    JOIN last_in_layer USING (number)
    WHERE NOT numbered.is_in_layer AND numbered.sequence_position > last_in_layer.last_position
    UNION ALL
    SELECT numbered.number, numbered.start_ns, numbered.start_ns - numbered.reached_ns, numbered.sequence_position
    FROM numbered
    WHERE numbered.is_in_layer AND numbered.number > 1
    QUALIFY row_number() OVER (PARTITION BY numbered.number ORDER BY numbered.sequence_position) = 1
),
begin_of_pass AS (
    SELECT number, arg_max(start_ns, (gap_ns, -sequence_position)) AS start_ns
    FROM boundary
    WHERE number <= (SELECT max(number) FROM numbered)
    GROUP BY number
    UNION ALL
    SELECT 1, (SELECT min(start_ns) FROM step.kernel_step)
    FROM numbered
    HAVING max(number) > 0
)
SELECT begin_of_pass.start_ns, bool_or(numbered.is_draft) AS is_draft
FROM begin_of_pass
JOIN numbered ON numbered.number = begin_of_pass.number AND numbered.is_in_layer
GROUP BY begin_of_pass.number, begin_of_pass.start_ns
ORDER BY begin_of_pass.start_ns
