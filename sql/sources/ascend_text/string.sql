-- The type in the name of a kernel without type is a text of its own, and so are the types and cores of op_statistic.csv,
-- and the names of api_statistic.csv.
WITH type_in_name AS (
    SELECT DISTINCT type_of_compute(text) AS text
    FROM raw.string
    WHERE regexp_matches(text, '^(aclnn|trans_|atomic_memset|Conv[23]D)|_MemSet$')
),
further AS (
    SELECT text
    FROM type_in_name
    UNION
    SELECT unnest([type, core])
    FROM raw.recorded_kernel_type
    UNION
    SELECT name
    FROM raw.recorded_host_call
)
FROM raw.string
UNION ALL
SELECT text_id(further.text) AS text_id, further.text
FROM further
ANTI JOIN raw.string USING (text)
WHERE further.text IS NOT NULL
