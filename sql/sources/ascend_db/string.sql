-- Staging has merged the ids of equal texts, so the smallest id of each text is the one in use. Where torch_npu made the table,
-- nothing keeps an id from having two texts.
WITH one_text AS (
    SELECT id, min(value) AS text
    FROM raw.string_ids
    GROUP BY id
)
SELECT min(id) AS text_id, text
FROM one_text
GROUP BY text
