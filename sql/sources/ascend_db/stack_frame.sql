-- Of chains with the same frames only the first one is read: a million kernels have millions of chains, and hundreds of stacks.
WITH chain AS (
    SELECT id, chain_key(stack, stackDepth) AS key
    FROM raw.callchain
    GROUP BY id
),
stack AS (
    SELECT min(id) AS id
    FROM chain
    GROUP BY key
)
SELECT callchain.id AS stack_id, callchain.stackDepth AS depth, name.text AS frame
FROM raw.callchain
SEMI JOIN stack ON stack.id = callchain.id
LEFT JOIN trace.string AS name ON name.text_id = callchain.stack
WHERE callchain.id IS NOT NULL AND callchain.stackDepth IS NOT NULL
