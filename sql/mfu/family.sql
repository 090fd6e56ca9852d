-- One row is an operator type of the rank for whose FLOPs there is a formula.
--
-- type_id  BIGINT   the type, a text of trace.string
-- family   VARCHAR  the formula: matmul, transposed matmul, grouped matmul, gathering matmul, reducing matmul, convolution,
--                   input gradient, weight gradient, attention, attention gradient, inference attention, paged attention
WITH used_type AS (
    SELECT DISTINCT type_id
    FROM trace.kernel
    WHERE kind = 'compute'
),
named_type AS (
    -- Knows aicore: formulas are of operators, which have names.
    SELECT type_id, regexp_replace(lower(string.text), '_|aicore$', '', 'g') AS name
    FROM used_type
    JOIN trace.string ON string.text_id = used_type.type_id
),
with_family AS (
    SELECT
        type_id,
        CASE
            WHEN regexp_matches(name, '^(allgather|alltoall).*matmul') THEN 'gathering matmul'
            WHEN regexp_matches(name, 'matmul.*(allreduce|reducescatter|alltoall)') THEN 'reducing matmul'
            WHEN regexp_matches(name, '^(quant)?transpose(quant)?batchmatmul(weightnz|v\d+)*$') THEN 'transposed matmul'
            WHEN regexp_matches(name, '^(weight)?(quant)?(batch)?matmul(common|nd|nz|weightnz|v\d+)*$') THEN 'matmul'
            WHEN regexp_matches(name, '^(weight)?(quant)?groupedmatmul') THEN 'grouped matmul'
            WHEN regexp_matches(name, '^conv[23]d(v\d+)?$') THEN 'convolution'
            -- Knows backpropfilter, backpropinput: formulas are of operators, which have names.
            WHEN regexp_matches(name, '^conv[23]dbackpropinput(v\d+)?d?$') THEN 'input gradient'
            WHEN regexp_matches(name, '^conv[23]dbackpropfilter(v\d+)?d?$') THEN 'weight gradient'
            -- Knows flashattention, flashattentionscore, flashattentionscoregrad: so are those of attention.
            WHEN regexp_matches(name, '^flashattentionscore(v\d+)?$') THEN 'attention'
            WHEN regexp_matches(name, '^flashattentionscoregrad(v\d+)?$') THEN 'attention gradient'
            WHEN regexp_matches(name, '^(fusedinferattentionscore|promptflashattention|increflashattention)(v\d+)?$')
                THEN 'inference attention'
            WHEN regexp_matches(name, '^(paged.*attention|(paged)?multilatentattention|ringmla)') THEN 'paged attention'
        END AS family
    FROM named_type
)
FROM with_family
WHERE family IS NOT NULL
