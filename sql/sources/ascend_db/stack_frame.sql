SELECT callchain.id AS stack_id, callchain.stackDepth AS depth, name.text AS frame
FROM raw.callchain
LEFT JOIN trace.string AS name ON name.text_id = callchain.stack
WHERE callchain.id IS NOT NULL AND callchain.stackDepth IS NOT NULL
