-- The type in the name of a kernel without type is a text of its own.
WITH type_in_name AS (
    SELECT DISTINCT type_of_compute(text) AS text
    FROM raw.string
    WHERE regexp_matches(text, '^(aclnn|trans_|atomic_memset|Conv[23]D)|_MemSet$')
)
FROM raw.string
UNION ALL
SELECT text_id(type_in_name.text) AS text_id, type_in_name.text
FROM type_in_name
ANTI JOIN raw.string USING (text)
WHERE type_in_name.text IS NOT NULL
