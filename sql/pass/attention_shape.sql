-- One row is a description of attention in passes: how many queries and sequences it has, as far as the shapes show.
--
-- shapes_id         TEXT_ID  input shapes, as in pass.shape
-- is_of_op          BOOLEAN  as in pass.shape
-- query_count       BIGINT   queries of all sequences, padding included; NULL where the shapes do not show it
-- sequence_count    BIGINT   sequences, padding included; NULL where the shapes do not show it
-- is_without_cache  BOOLEAN  whether the keys are those of the queries alone: prompts from their beginnings
--
-- Queries of several sequences are a tensor of three dims, the first of which counts them. A table of blocks has a row a
-- sequence, and there are as many lengths; without one, the lengths of queries and of keys follow each other. Kernels have
-- lengths; ops have the sums up to each sequence, from 0 on, one more than sequences.
WITH described AS (
    SELECT DISTINCT shapes_id, is_of_op
    FROM pass.shape
    WHERE part IN ('prefill attention', 'decode attention', 'attention') AND shapes_id IS NOT NULL
),
listed AS (
    SELECT
        described.*,
        list_transform(string_split(tensor_list(string.text), ';'), lambda shape: dims_of(shape)) AS shapes
    FROM described
    JOIN trace.string ON string.text_id = described.shapes_id
),
further AS (
    SELECT
        *,
        list_transform(shapes[4:], lambda dims: if(len(dims) = 1, dims[1], NULL)) AS lengths,
        list_transform(list_filter(shapes[4:], lambda dims: len(dims) = 2), lambda dims: dims[1]) AS table_rows
    FROM listed
),
counted AS (
    SELECT
        *,
        list_filter(table_rows, lambda rows: list_contains(lengths, rows))[1] AS of_table,
        lengths[list_position(
            list_transform(
                range(1, len(lengths)), lambda number: coalesce(lengths[number] = lengths[number + 1], false)
            ),
            true
        )] AS of_pair
    FROM further
)
SELECT
    shapes_id,
    is_of_op,
    if(len(shapes[1]) = 3, shapes[1][1], NULL) AS query_count,
    coalesce(of_table, if(is_of_op, nullif(of_pair - 1, 0), of_pair)) AS sequence_count,
    coalesce(NOT is_of_op AND len(shapes[1]) = 3 AND shapes[2][1] = shapes[1][1] AND of_table IS NULL, false)
        AS is_without_cache
FROM counted
