-- One row is a padded shape and the shape without padding, as kernels that transform one into the other show.
--
-- @guard mfu.transform
--
-- padded_dims    BIGINT[]  dims in the padded format
-- padded_format  VARCHAR   the padded format, such as FRACTAL_Z
-- dims           BIGINT[]  the dims without padding; a padded shape that has two different ones has no row
WITH side AS (
    SELECT
        dims_of(string_split(tensor_list(input_shape.text), ';')[1]) AS input_dims,
        format_of(string_split(input_format.text, ';')[1]) AS input_format,
        dims_of(string_split(tensor_list(output_shape.text), ';')[1]) AS output_dims,
        format_of(string_split(output_format.text, ';')[1]) AS output_format
    FROM mfu.transform
    JOIN trace.string AS input_shape ON input_shape.text_id = transform.input_shapes_id
    JOIN trace.string AS input_format ON input_format.text_id = transform.input_formats_id
    JOIN trace.string AS output_shape ON output_shape.text_id = transform.output_shapes_id
    JOIN trace.string AS output_format ON output_format.text_id = transform.output_formats_id
),
pair AS (
    SELECT output_dims AS padded_dims, output_format AS padded_format, input_dims AS dims
    FROM side
    WHERE is_padded_format(output_format) AND NOT is_padded_format(input_format)
    UNION
    SELECT input_dims, input_format, output_dims
    FROM side
    WHERE is_padded_format(input_format) AND NOT is_padded_format(output_format)
)
SELECT padded_dims, padded_format, min(dims) AS dims
FROM pair
WHERE padded_dims IS NOT NULL AND dims IS NOT NULL
GROUP BY padded_dims, padded_format
HAVING count(*) = 1
