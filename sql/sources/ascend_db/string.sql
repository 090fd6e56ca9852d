-- Staging has merged the ids of equal texts, so the smallest id of each text is the one in use. Where torch_npu made the
-- table, nothing keeps an id from having two texts. The class of a traced module is a text of its own: Linear of
-- `nn.Module: Linear_0`.
WITH one_text AS (
    SELECT id, min(value) AS text
    FROM raw.string_ids
    GROUP BY id
),
recorded AS (
    SELECT min(id) AS text_id, text
    FROM one_text
    GROUP BY text
),
class AS (
    SELECT DISTINCT class_of_traced_module(text) AS text
    FROM recorded
    WHERE starts_with(text, 'nn.Module: ')
)
FROM recorded
UNION ALL
SELECT -row_number() OVER (ORDER BY class.text) AS text_id, class.text
FROM class
ANTI JOIN recorded USING (text)
