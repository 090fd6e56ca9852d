-- One row is a description of an op or a kernel that is an attention over a cache of keys, and what it costs for each query and
-- key; how many there are, its shapes do not say. A kernel has a row for each layout in which its shapes can be read.
--
-- @guard mfu.served_form
--
-- shape_id         BIGINT   a description of mfu.shape
-- query_count      BIGINT   queries of all sequences, with those that fill up a graph; NULL where the shapes do not fit the op
-- flops_per_pair   HUGEINT  FLOPs of a query with a key: 2 * heads * (Dq + Dv); NULL where the shapes do not fit the op
-- bytes_per_query  BIGINT   bytes of a query and its result; NULL when not known
-- bytes_per_key    BIGINT   bytes of a key and its value, of the heads that several heads of queries share; NULL when not known
--
-- Kernels with shapes of their own are in mfu.served_reading. Of ops, the last two dims of a tensor are heads and their size,
-- the last one of a matrix is both. Queries of one byte have a result of another type. Of latent attention that chooses among
-- the keys, and of one whose cache has scales among its elements, nothing is said.
WITH operand AS (
    SELECT
        shape_id,
        dims_of(shapes[first_at]) AS q,
        dims_of(shapes[first_at + 1]) AS k,
        dims_of(shapes[first_at + 2]) AS v,
        nullif(bytes_of_element(types[first_at]), 1) AS query_bytes,
        bytes_of_element(types[first_at + 1]) AS key_bytes,
        bytes_of_element(types[first_at + 2]) AS value_bytes
    FROM mfu.op_shape
    WHERE form = 'paged attention'
),
latent AS (
    SELECT
        shape_id,
        dims_of(shapes[first_at]) AS q,
        dims_of(shapes[first_at + 1]) AS k,
        TRY_CAST(input_values[first_at + 2] AS INTEGER)::HUGEINT AS value_size,
        nullif(bytes_of_element(types[first_at]), 1) AS query_bytes,
        bytes_of_element(types[first_at + 1]) AS key_bytes,
        q[-2] * (q[-1] + value_size) AS width,
        coalesce(
            len(q) = 4 AND len(k) = 4 AND k[-2] = 1 AND k[-1] = q[-1] AND value_size BETWEEN 1 AND q[-1]
            AND coalesce(types[first_at + 10], '') = '',
            false
        ) AS fits
    FROM mfu.op_shape
    WHERE form = 'latent attention'
),
wide AS (
    SELECT
        *,
        count_of(if(len(q) = 2, q[:1], q[:-3])) AS query_count,
        count_of(if(len(q) = 2, q[-1:], q[-2:])) AS query_width,
        count_of(if(len(k) = 2, k[-1:], k[-2:])) AS key_width,
        count_of(if(len(v) = 2, v[-1:], v[-2:])) AS value_width
    FROM operand
),
fitting AS (
    SELECT
        *,
        coalesce(
            len(q) BETWEEN 2 AND 4 AND len(k) BETWEEN 2 AND 4 AND len(v) = len(k)
            AND query_width % key_width = 0
            AND (len(q) = 2 OR len(k) = 2 OR q[-1] = k[-1] AND q[-2] % k[-2] = 0)
            AND (len(k) = 2 OR k[-2] = v[-2])
            AND query_width * value_width % key_width = 0,
            false
        ) AS fits,
        query_width + query_width * value_width // nullif(key_width, 0) AS width
    FROM (SELECT * REPLACE (query_width::HUGEINT AS query_width) FROM wide)
)
SELECT
    shape_id,
    if(fits, query_count, NULL) AS query_count,
    if(fits, 2 * width, NULL) AS flops_per_pair,
    if(fits, TRY_CAST(width * query_bytes AS BIGINT), NULL) AS bytes_per_query,
    if(fits, TRY_CAST(key_width::HUGEINT * key_bytes + value_width::HUGEINT * value_bytes AS BIGINT), NULL) AS bytes_per_key
FROM fitting
UNION ALL
SELECT
    shape_id,
    if(fits, q[1] * q[2], NULL),
    if(fits, 2 * width, NULL),
    if(fits, TRY_CAST(width * query_bytes AS BIGINT), NULL),
    if(fits, k[-1] * key_bytes, NULL)
FROM latent
UNION ALL
SELECT shape_id, query_count, flops_per_pair, bytes_per_query, bytes_per_key
FROM mfu.served_reading
