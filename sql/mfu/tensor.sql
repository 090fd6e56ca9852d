-- One row is a tensor of a description in mfu.shape whose dims can be read. Absent inputs have no row, but they count in the
-- positions of the others.
--
-- shape_id       BIGINT    a description of mfu.shape
-- is_output      BOOLEAN   false for an input
-- position       BIGINT    position among the inputs or the outputs, from 1
-- type           VARCHAR   data type as recorded, without DT_; NULL for an output, and when not recorded
-- format         VARCHAR   format as recorded, without FORMAT_; NULL when not recorded
-- dims           BIGINT[]  dims as recorded
-- element_count  BIGINT    their product
-- true_dims      BIGINT[]  dims without padding: as recorded, or as a transform shows; NULL where a padded format hides them.
--                          Fewer than four dims in FRACTAL_NZ are recorded without padding
-- matrix         BIGINT[]  dims of its matrices: any batch, then rows and columns; padded where is_padded; NULL where the
--                          format holds no matrix, and for fewer than two dims
-- is_padded      BOOLEAN   whether matrix is padded
WITH listed_shape AS (
    SELECT
        shape.shape_id,
        false AS is_output,
        shapes.text AS shapes,
        string_split(types.text, ';') AS types,
        string_split(formats.text, ';') AS formats
    FROM mfu.shape
    JOIN trace.string AS shapes ON shapes.text_id = shape.input_shapes_id
    LEFT JOIN trace.string AS types ON types.text_id = shape.input_types_id
    LEFT JOIN trace.string AS formats ON formats.text_id = shape.input_formats_id
    WHERE shape.family IS NOT NULL
    UNION ALL
    SELECT shape.shape_id, true, shapes.text, NULL, string_split(formats.text, ';')
    FROM mfu.shape
    JOIN trace.string AS shapes ON shapes.text_id = shape.output_shapes_id
    LEFT JOIN trace.string AS formats ON formats.text_id = shape.output_formats_id
    WHERE shape.family IS NOT NULL
),
tensor AS (
    SELECT
        listed_shape.shape_id,
        listed_shape.is_output,
        one.position,
        nullif(replace(upper(trim(listed_shape.types[one.position])), 'DT_', ''), '') AS type,
        format_of(listed_shape.formats[one.position]) AS format,
        dims_of(one.text) AS dims
    FROM listed_shape
    CROSS JOIN unnest(string_split(tensor_list(listed_shape.shapes), ';')) WITH ORDINALITY AS one (text, position)
),
with_true_dims AS (
    SELECT
        tensor.*,
        count_of(tensor.dims) AS element_count,
        CASE
            -- Knows fractal_nz: padded layouts are of one kind of hardware.
            WHEN tensor.format = 'FRACTAL_NZ' AND len(tensor.dims) < 4 THEN tensor.dims
            WHEN is_padded_format(tensor.format) THEN plain_shape.dims
            ELSE tensor.dims
        END AS true_dims
    FROM tensor
    LEFT JOIN mfu.plain_shape ON plain_shape.padded_dims = tensor.dims AND plain_shape.padded_format = tensor.format
    WHERE count_of(tensor.dims) IS NOT NULL
)
SELECT
    shape_id,
    is_output,
    position,
    type,
    format,
    dims,
    element_count,
    true_dims,
    CASE
        WHEN len(true_dims) >= 2 THEN true_dims
        WHEN format = 'FRACTAL_NZ' AND len(dims) >= 4 THEN dims[:-5] || [dims[-3] * dims[-2], dims[-4] * dims[-1]]
    END AS matrix,
    true_dims IS NULL AS is_padded
FROM with_true_dims
