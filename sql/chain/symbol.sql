-- One row is a description of compute kernels and the symbol that stands for what they compute, one letter, in the sequence of
-- kernels on a stream.
--
-- name_id     TEXT_ID  name of the kernels
-- type_id     TEXT_ID  their type; NULL when it is not known
-- op_name_id  TEXT_ID  the op that launched them; NULL when linked to no op
-- symbol      VARCHAR  as below; '.' for all else
--
-- Only this file knows names of operators. Of the type, the op and the name of the kernels, the first that says what they
-- compute decides. The symbols: x multiply, d divide, a add, b subtract, p power, m mean, s sum, r rsqrt, q sqrt, i reciprocal,
-- c cast, copy or transpose, j slice or split, n negate, k concatenate, e exp, h maximum, f softmax, w silu, g sigmoid, u gelu,
-- y erf, t tanh, l fill or choose by a mask, o dropout, M matmul, B batched matmul, L lerp, A addcmul, D addcdiv, O an op on a
-- list of tensors.
WITH used_type AS (
    SELECT DISTINCT name_id, type_id, op_name_id
    FROM module.kernel
    WHERE kind IN ('compute', 'copy')
),
-- mul for aten::mul_, aclnnMuls_MulAiCore_Mul's type Muls and MulFunctor; the number of a version is no part of the word.
worded_type AS (
    SELECT
        used_type.*,
        -- Knows aicore: formulas are of operators, which have names.
        regexp_replace(regexp_replace(lower(type.text), '_|aicore$', '', 'g'), 'v\d+$', '') AS type_word,
        regexp_extract(lower(op.text), '^(?:\w+::)?_*(\w+?)_*$', 1) AS op_word,
        lower(regexp_extract(
            name.text,
            '(?i)(Mul|Div|Add|CUDAFunctor_add|CUDAFunctorOnSelf_add|Mean|Sum|silu|sigmoid|gelu|tanh|rsqrt|sqrt|neg|exp|'
            || 'reciprocal|pow_tensor_scalar|CatArrayBatchedCopy|direct_copy|b?float16_copy|softmax|lerp|addcmul|addcdiv)'
            || '(?:Functor|Ops|_kernel|_scalar|_forward|_impl|Copy|<)',
            1
        )) AS name_word
    FROM used_type
    LEFT JOIN trace.string AS type ON type.text_id = used_type.type_id
    LEFT JOIN trace.string AS op ON op.text_id = used_type.op_name_id
    LEFT JOIN trace.string AS name ON name.text_id = used_type.name_id
),
known_type (symbol, words) AS (
    VALUES
        ('x', ['mul', 'muls']),
        ('d', ['div', 'divs', 'realdiv', 'true_divide']),
        ('a', ['add', 'adds', 'cudafunctor_add', 'cudafunctoronself_add']),
        ('b', ['sub', 'subs', 'rsub']),
        ('p', ['pow', 'pows', 'square', 'pow_tensor_scalar']),
        ('m', ['mean', 'reducemean', 'reducemeand']),
        ('s', ['sum', 'reducesum', 'reducesumd']),
        ('r', ['rsqrt']),
        ('q', ['sqrt']),
        ('i', ['reciprocal']),
        ('c', ['cast', 'copy', 'to_copy', 'direct_copy', 'float16_copy', 'bfloat16_copy', 'clone', 'contiguous', 'tensormove']),
        ('c', ['asstrided', 'viewcopy', 'transpose', 'transposed']),
        ('j', ['slice', 'sliced', 'stridedslice', 'stridedsliced', 'split', 'splitd', 'splitv', 'splitvd', 'chunk']),
        ('n', ['neg']),
        ('k', ['concat', 'concatd', 'concatv', 'cat', 'catarraybatchedcopy']),
        ('e', ['exp']),
        ('h', ['amax', 'max', 'reducemax', 'reducemaxd', 'argmaxwithvalue']),
        ('f', ['softmax']),
        ('w', ['silu', 'swish']),
        ('g', ['sigmoid']),
        ('u', ['gelu']),
        ('y', ['erf']),
        ('t', ['tanh']),
        ('l', ['masked_fill', 'maskedfill', 'where', 'select']),
        ('o', ['dropout', 'native_dropout', 'dropoutdomask', 'dropoutgenmask', 'statelessdropoutgenmask', 'fused_dropout']),
        ('M', ['mm', 'addmm', 'linear', 'matmul']),
        ('B', ['bmm', 'baddbmm', 'batchmatmul']),
        ('L', ['lerp']),
        ('A', ['addcmul']),
        ('D', ['addcdiv'])
),
meaning AS (
    SELECT symbol, unnest(words) AS word
    FROM known_type
)
SELECT
    worded_type.name_id,
    worded_type.type_id,
    worded_type.op_name_id,
    CASE
        WHEN starts_with(worded_type.type_word, 'foreach') OR starts_with(worded_type.op_word, 'foreach') THEN 'O'
        ELSE coalesce(of_type.symbol, of_op.symbol, of_name.symbol, '.')
    END AS symbol
FROM worded_type
LEFT JOIN meaning AS of_type ON of_type.word = worded_type.type_word
LEFT JOIN meaning AS of_op ON of_op.word = worded_type.op_word
LEFT JOIN meaning AS of_name ON of_name.word = worded_type.name_word
