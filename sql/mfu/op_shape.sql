-- One row is a distinct description of an op that multiplies matrices, or of kernels without such an op.
--
-- @guard trace.op_input
--
-- shape_id         BIGINT     the id, as in mfu.op_kernel
-- @columns form to wanted_at as in mfu.op_form
-- shapes           VARCHAR[]  shape of each input: dims separated by ','; NULL when not recorded
-- types            VARCHAR[]  type of each input; NULL when not recorded
-- input_values     VARCHAR[]  value of each input that is no tensor; NULL when not recorded
-- input_shapes_id  TEXT_ID    all shapes; NULL when not recorded
-- data_type        VARCHAR    the type that decides the peak: fp16, bf16, fp8, int8, tf32, fp32, fp64; 'fp32 or tf32' for FP32
--                             where it is not recorded which; another type in lower case; two types where the matrices have
--                             different ones; NULL when not recorded
-- reason           VARCHAR    why no op has FLOPs for these kernels; NULL where one does
WITH described_op AS (
    SELECT DISTINCT shape_id, name_id, input_shapes_id, input_types_id, input_values_id, fp32_as, reason
    FROM mfu.op_kernel
),
listed_op AS (
    SELECT
        described_op.*,
        op_form.* EXCLUDE (name_id),
        string_split(shapes.text, ';') AS shapes,
        string_split(types.text, ';') AS types,
        CASE WHEN json_valid(input_values.text) THEN json_extract_string(input_values.text, '$[*]') END AS input_values
    FROM described_op
    LEFT JOIN mfu.op_form USING (name_id)
    LEFT JOIN trace.string AS shapes ON shapes.text_id = described_op.input_shapes_id
    LEFT JOIN trace.string AS types ON types.text_id = described_op.input_types_id
    LEFT JOIN trace.string AS input_values ON input_values.text_id = described_op.input_values_id
),
device AS (
    SELECT coalesce(bool_and(NOT has_tf32), false) AS lacks_tf32
    FROM trace.chip
),
typed_op AS (
    SELECT
        listed_op.*,
        list_transform(
            types[first_at:first_at + 1],
            lambda type: CASE
                WHEN type = 'c10::BFloat16' THEN 'bf16'
                WHEN type = 'c10::Half' THEN 'fp16'
                WHEN type = 'float' THEN coalesce(fp32_as, if(device.lacks_tf32, 'fp32', 'fp32 or tf32'))
                WHEN type = 'double' THEN 'fp64'
                WHEN starts_with(type, 'c10::Float8_') THEN 'fp8'
                WHEN type IN ('signed char', 'unsigned char') THEN 'int8'
                ELSE lower(replace(type, 'c10::', ''))
            END
        ) AS matrix_types
    FROM listed_op
    CROSS JOIN device
)
SELECT
    shape_id,
    form,
    first_at,
    layout,
    causal_at,
    aligned,
    mask_at,
    lengths_at,
    used_at,
    window_at,
    values_at,
    turned_at,
    wanted_at,
    shapes,
    types,
    input_values,
    input_shapes_id,
    nullif(
        CASE
            WHEN matrix_types[1] <> matrix_types[2] THEN matrix_types[1] || ' and ' || matrix_types[2]
            ELSE matrix_types[1]
        END,
        ''
    ) AS data_type,
    reason
FROM typed_op
