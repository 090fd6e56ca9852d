-- One row is a distinct description of kernels that may multiply matrices: there is a formula for their type, or they ran on
-- cube cores. Where kernels have no shapes of their own, the ops that launched them are described. FLOPs are counted once per
-- description.
--
-- shape_id           BIGINT   the id
-- type_id            TEXT_ID  operator type, such as MatMulV3; NULL when it is not known
-- family             VARCHAR  the formula, as in mfu.family, or op for those of mfu.op_form; NULL without one
-- core_id            TEXT_ID  cores it ran on
-- input_shapes_id    TEXT_ID  input shapes, tensors separated by ';'; those of the op where the op is described; NULL when not
--                             recorded
-- input_types_id     TEXT_ID  input data types; NULL when not recorded
-- input_formats_id   TEXT_ID  input formats; NULL when not recorded
-- output_shapes_id   TEXT_ID  output shapes; NULL when not recorded
-- output_formats_id  TEXT_ID  output formats; NULL when not recorded
-- hf32_eligible_id   TEXT_ID  YES or NO; NULL when not recorded
-- data_type          VARCHAR  the type that decides the peak: fp16, bf16, hf32, fp32, int8, and for ops those of mfu.op_shape;
--                             'fp32 or hf32' for FLOAT where it is not recorded which; another type in lower case; two types
--                             where the matrices have different ones; NULL when not recorded
WITH described_kernel AS (
    SELECT DISTINCT
        kernel.type_id,
        family.family,
        kernel.core_id,
        kernel.input_shapes_id,
        kernel.input_types_id,
        kernel.input_formats_id,
        kernel.output_shapes_id,
        kernel.output_formats_id,
        kernel.hf32_eligible_id
    FROM trace.kernel
    LEFT JOIN mfu.family USING (type_id)
    WHERE kernel.kind = 'compute' AND (family.family IS NOT NULL OR kernel.engine IN ('matrix', 'matrix and vector'))
      AND NOT EXISTS (FROM trace.op_input)
),
-- A gradient of a convolution also has its sizes as an input, of integers, which decides nothing. A weight that is unpacked
-- first is multiplied in the type of the other input.
typed_shape AS (
    SELECT
        described_kernel.*,
        list_transform(
            list_filter(
                string_split(input_types.text, ';'),
                lambda type: NOT (family LIKE '% gradient' AND type IN ('INT32', 'INT64'))
            ),
            lambda type: CASE replace(upper(type), 'DT_', '')
                WHEN 'FLOAT16' THEN 'fp16'
                WHEN 'BF16' THEN 'bf16'
                WHEN 'BFLOAT16' THEN 'bf16'
                WHEN 'FLOAT' THEN CASE hf32.text WHEN 'YES' THEN 'hf32' WHEN 'NO' THEN 'fp32' ELSE 'fp32 or hf32' END
                ELSE lower(replace(upper(type), 'DT_', ''))
            END
        ) AS types,
        family = 'matmul' AND NOT starts_with(lower(type.text), 'weight') AS has_equal_types
    FROM described_kernel
    LEFT JOIN trace.string AS input_types ON input_types.text_id = described_kernel.input_types_id
    LEFT JOIN trace.string AS hf32 ON hf32.text_id = described_kernel.hf32_eligible_id
    LEFT JOIN trace.string AS type ON type.text_id = described_kernel.type_id
)
SELECT
    row_number() OVER (
        ORDER BY type_id, core_id, input_shapes_id, input_types_id, input_formats_id, output_shapes_id, output_formats_id,
            hf32_eligible_id
    ) AS shape_id,
    type_id,
    family,
    core_id,
    input_shapes_id,
    input_types_id,
    input_formats_id,
    output_shapes_id,
    output_formats_id,
    hf32_eligible_id,
    nullif(CASE WHEN has_equal_types AND types[1] <> types[2] THEN types[1] || ' and ' || types[2] ELSE types[1] END, '')
        AS data_type
FROM typed_shape
UNION ALL BY NAME
SELECT shape_id, 'op' AS family, input_shapes_id, data_type
FROM mfu.op_shape
