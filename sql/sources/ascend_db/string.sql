-- Staging has merged the ids of equal texts, so the smallest id of each text is the one in use.
SELECT min(id) AS text_id, value AS text
FROM raw.string_ids
GROUP BY value
