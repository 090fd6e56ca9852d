WITH stack AS (
    SELECT text_id, text
    FROM trace.string
    WHERE text_id IN (SELECT stack FROM raw.op_stack)
)
FROM frames_of_texts(stack)
