-- Other functions ask for the state of tracing, too: nothing says who asked.
SELECT
    module_call.globalTid AS tid,
    if(call.text_id IS NULL, NULL, module_call.name) AS name_id,
    module_call.startNs AS start_ns,
    if(call.text_id IS NULL, NULL, module_call.endNs) AS end_ns,
    NULL::BIGINT AS python_id,
    NULL::BIGINT AS caller_id
FROM raw.module_call
LEFT JOIN trace.string AS call ON call.text_id = module_call.name AND starts_with(call.text, 'nn.Module: ')
WHERE module_call.endNs >= module_call.startNs
