-- Of chains with the same frames there is only the first one.
WITH frames AS (
    SELECT id, chain_key(stack, stackDepth) AS key
    FROM raw.callchain
    GROUP BY id
),
stack AS (
    SELECT min(id) AS id
    FROM frames
    GROUP BY key
)
SELECT callchain.id AS stack_id, callchain.stackDepth AS depth, name.text AS frame
FROM raw.callchain
SEMI JOIN stack ON stack.id = callchain.id
LEFT JOIN trace.string AS name ON name.text_id = callchain.stack
WHERE callchain.stackDepth IS NOT NULL
