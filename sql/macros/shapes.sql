-- Shapes or types of an op's inputs without the line breaks that torch_npu writes after each ';'.
CREATE MACRO IF NOT EXISTS in_one_line(inputs) AS replace(inputs, ';' || chr(13) || chr(10), ';');

-- A list of shapes as a text without its quotes: 4096,1024;1024,64. Tensors are separated by ';', dims by ','.
CREATE MACRO IF NOT EXISTS tensor_list(shapes) AS trim(shapes, '"'' ');

-- Dims of a shape; NULL when one of them is no positive number.
CREATE MACRO IF NOT EXISTS dims_of(shape) AS
    CASE WHEN regexp_full_match(shape, '[1-9][0-9]{0,9}(,[1-9][0-9]{0,9})*') THEN string_split(shape, ',')::BIGINT[] END;

-- Dims of a shape of which some may be 0, as of the rows of an expert that gets none; NULL when one of them is no number.
CREATE MACRO IF NOT EXISTS dims_or_none_of(shape) AS
    CASE
        WHEN regexp_full_match(shape, '(0|[1-9][0-9]{0,9})(,(0|[1-9][0-9]{0,9}))*')
            THEN string_split(shape, ',')::BIGINT[]
    END;

-- Numbers in a list such as [1, 2]; NULL when one of them is no small number.
CREATE MACRO IF NOT EXISTS numbers_of(list) AS
    CASE WHEN regexp_full_match(list, '\[[0-9]{1,9}(, ?[0-9]{1,9})*\]') THEN list::BIGINT[] END;

-- Number of elements of a tensor; NULL above 2^42, which no memory holds; so products of three such numbers stay in range.
CREATE MACRO IF NOT EXISTS count_of(dims) AS CASE WHEN list_product(dims) <= 4398046511104 THEN list_product(dims)::BIGINT END;

-- Name of a data format in one spelling: ND for FORMAT_ND and nd.
CREATE MACRO IF NOT EXISTS format_of(format) AS nullif(replace(upper(trim(format)), 'FORMAT_', ''), '');

-- Whether a data format pads its dims to blocks.
CREATE MACRO IF NOT EXISTS is_padded_format(format) AS coalesce(contains(format, 'FRACTAL') OR ends_with(format, 'C0'), false);

-- Whether two lengths can be the same: a padded length is longer than the true one by less than a block of 64.
CREATE MACRO IF NOT EXISTS agrees(length, is_padded, other_length, other_is_padded) AS
    length = other_length
    OR (is_padded AND length - other_length BETWEEN 1 AND 63)
    OR (other_is_padded AND other_length - length BETWEEN 1 AND 63);

-- Lengths of sequences from a JSON list; NULL when one of them is no length.
CREATE MACRO IF NOT EXISTS lengths_of(json_list) AS
    CASE
        WHEN list_min(TRY_CAST(json_list AS BIGINT[])) >= 0 AND list_max(TRY_CAST(json_list AS BIGINT[])) <= 4398046511104
            THEN TRY_CAST(json_list AS BIGINT[])
    END;

-- The part of FLOPs that belongs to a kernel by its time: `until_ns` is the time of the kernels up to this one, `all_ns` that
-- of all. The parts add up without a remainder.
CREATE MACRO IF NOT EXISTS part_of(flops, duration_ns, until_ns, all_ns) AS
    (
        flops::HUGEINT * until_ns // nullif(all_ns, 0) - flops::HUGEINT * (until_ns - duration_ns) // nullif(all_ns, 0)
    )::BIGINT;

-- The type of floating numbers that a recorded data type is, in the words of mfu.shape; NULL for all others.
CREATE MACRO IF NOT EXISTS float_type_of(type) AS
    CASE regexp_replace(upper(trim(type)), '^(DT_|C10::)', '')
        WHEN 'FLOAT' THEN 'fp32'
        WHEN 'FLOAT16' THEN 'fp16'
        WHEN 'HALF' THEN 'fp16'
        WHEN 'BF16' THEN 'bf16'
        WHEN 'BFLOAT16' THEN 'bf16'
        WHEN 'DOUBLE' THEN 'fp64'
    END;

-- The part of a time in which the cores of a device wait that a kernel of so many blocks leaves without work, a block on each
-- core at a time; NULL where either number is not known.
CREATE MACRO IF NOT EXISTS idle_part(time_ns, block_num, core_count) AS
    time_ns - (time_ns::HUGEINT * block_num // (core_count * ((block_num::HUGEINT + core_count - 1) // core_count)))::BIGINT;

-- Elements of a token in pages of keys or values, of all heads: [blocks, tokens, heads * D], [blocks, heads, tokens, D],
-- [blocks, tokens, heads, D], or D in blocks of 16, as [blocks, heads * D / 16, tokens, 16] and [blocks, heads, D / 16, tokens,
-- 16]. Of two dims that may be tokens, the larger one is; NULL for other dims.
CREATE MACRO IF NOT EXISTS width_in_pages(dims) AS
    CASE
        WHEN len(dims) = 3 THEN dims[3]
        WHEN len(dims) = 4 AND dims[4] = 16 THEN dims[2] * 16
        WHEN len(dims) = 4 THEN least(dims[2], dims[3]) * dims[4]
        WHEN len(dims) = 5 AND dims[5] = 16 THEN dims[2] * dims[3] * 16
    END;

-- Bytes of an element of a data type as recorded; NULL for one that is not known.
CREATE MACRO IF NOT EXISTS bytes_of_element(type) AS
    CASE regexp_replace(upper(trim(type)), '^(DT_|C10::)', '')
        WHEN 'FLOAT' THEN 4
        WHEN 'FLOAT16' THEN 2
        WHEN 'HALF' THEN 2
        WHEN 'BF16' THEN 2
        WHEN 'BFLOAT16' THEN 2
        WHEN 'DOUBLE' THEN 8
        WHEN 'INT8' THEN 1
        WHEN 'UINT8' THEN 1
        WHEN 'BOOL' THEN 1
        WHEN 'INT16' THEN 2
        WHEN 'INT32' THEN 4
        WHEN 'INT64' THEN 8
        WHEN 'SIGNED CHAR' THEN 1
        WHEN 'UNSIGNED CHAR' THEN 1
        WHEN 'INT' THEN 4
        WHEN 'LONG' THEN 8
        WHEN 'LONG INT' THEN 8
    END;
