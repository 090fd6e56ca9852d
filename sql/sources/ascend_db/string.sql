-- Staging has merged the ids of equal texts, so the smallest id of each text is the one in use. Where torch_npu made the
-- table, nothing keeps an id from having two texts. The class of a traced module is a text of its own: Linear of
-- `nn.Module: Linear_0`. So is the type in the name of a kernel without type.
WITH one_text AS (
    SELECT id, min(value) AS text
    FROM raw.string_ids
    GROUP BY id
),
recorded_text AS (
    SELECT min(id) AS text_id, text
    FROM one_text
    GROUP BY text
),
part_of_name AS (
    SELECT class_of_traced_module(text) AS text
    FROM recorded_text
    WHERE starts_with(text, 'nn.Module: ')
    UNION
    SELECT type_of_compute(text)
    FROM recorded_text
    WHERE regexp_matches(text, '^(aclnn|trans_|atomic_memset|Conv[23]D)|_MemSet$')
    UNION
    SELECT type_of_communication(text)
    FROM recorded_text
    WHERE starts_with(text, 'hcom_')
)
FROM recorded_text
UNION ALL
SELECT -row_number() OVER (ORDER BY part_of_name.text) AS text_id, part_of_name.text
FROM part_of_name
ANTI JOIN recorded_text USING (text)
WHERE part_of_name.text IS NOT NULL
