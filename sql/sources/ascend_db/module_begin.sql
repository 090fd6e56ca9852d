-- The length of a tensor asks for the state of tracing, too.
WITH name AS (
    SELECT
        recorded.text_id,
        class.text_id AS class_id,
        number_of_traced_module(recorded.text) AS number,
        CASE
            WHEN starts_with(recorded.text, 'nn.Module: ') THEN 'call'
            WHEN starts_with(recorded.text, '<') THEN 'entry'
            ELSE 'length'
        END AS kind
    FROM trace.string AS recorded
    LEFT JOIN trace.string AS class
        ON starts_with(recorded.text, 'nn.Module: ') AND class.text = class_of_traced_module(recorded.text)
    WHERE recorded.text_id IN (SELECT name FROM raw.module_call)
),
begun_call AS (
    SELECT
        module_call.globalTid AS tid,
        module_call.name,
        name.class_id,
        name.number,
        name.kind,
        module_call.startNs AS start_ns,
        module_call.endNs AS end_ns
    FROM raw.module_call
    JOIN name ON name.text_id = module_call.name
    WHERE is_host_time(module_call.startNs, module_call.endNs)
),
in_order AS (
    SELECT
        *,
        max(CASE WHEN kind = 'length' THEN end_ns END) OVER (
            PARTITION BY tid ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS length_end_ns
    FROM begun_call
)
SELECT
    tid,
    if(kind = 'call', name, NULL) AS name_id,
    if(kind = 'call', class_id, NULL) AS class_id,
    if(kind = 'call', number, NULL) AS number,
    start_ns,
    if(kind = 'call', end_ns, NULL) AS end_ns,
    NULL::BIGINT AS python_id,
    NULL::BIGINT AS caller_id
FROM in_order
WHERE kind = 'call' OR (kind = 'entry' AND coalesce(length_end_ns < end_ns, true))
