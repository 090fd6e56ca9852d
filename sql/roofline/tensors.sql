-- One row is a list of tensors, the inputs or the outputs of kernels, and its content.
--
-- shapes_id      BIGINT   the shapes, a text of trace.string
-- types_id       BIGINT   the data types, a text of trace.string
-- bytes          BIGINT   bytes of all tensors; NULL when a size or type is not known
-- largest_bytes  BIGINT   bytes of the largest one; NULL as bytes
-- element_count  BIGINT   elements of the largest one; NULL as bytes
-- inner_bytes    BIGINT   bytes of the shortest last dimension of those with two dimensions or more, as lie next to each other
--                         in memory; NULL without any
WITH list AS (
    SELECT input_shapes_id AS shapes_id, input_types_id AS types_id
    FROM trace.kernel
    WHERE kind = 'compute'
    UNION
    SELECT output_shapes_id, output_types_id
    FROM trace.kernel
    WHERE kind = 'compute'
    UNION
    SELECT DISTINCT input_shapes_id, input_types_id
    FROM trace.op_input
),
tensor AS (
    SELECT
        list.shapes_id,
        list.types_id,
        one.text AS shape,
        string_split(types.text, ';')[one.position] AS type,
        dims_or_none_of(one.text) AS dims
    FROM list
    JOIN trace.string AS shapes ON shapes.text_id = list.shapes_id
    JOIN trace.string AS types ON types.text_id = list.types_id
    CROSS JOIN unnest(string_split(tensor_list(shapes.text), ';')) WITH ORDINALITY AS one (text, position)
),
sized_tensor AS (
    SELECT
        shapes_id,
        types_id,
        dims,
        CASE WHEN trim(shape) = '' THEN 0 ELSE count_of(dims) END AS element_count,
        bytes_of_element(type) AS element_bytes,
        trim(shape) = '' AS is_absent
    FROM tensor
)
SELECT
    shapes_id,
    types_id,
    CASE
        WHEN bool_and(is_absent OR (element_count IS NOT NULL AND element_bytes IS NOT NULL))
            THEN TRY_CAST(sum(if(is_absent, 0, element_count::HUGEINT * element_bytes)) AS BIGINT)
    END AS bytes,
    if(bytes IS NULL, NULL, TRY_CAST(max(if(is_absent, 0, element_count::HUGEINT * element_bytes)) AS BIGINT)) AS largest_bytes,
    CASE WHEN bool_and(element_count IS NOT NULL) THEN max(element_count) END AS element_count,
    min(dims[-1] * element_bytes) FILTER (len(dims) >= 2)::BIGINT AS inner_bytes
FROM sized_tensor
GROUP BY shapes_id, types_id
