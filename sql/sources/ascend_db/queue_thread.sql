SELECT DISTINCT api.globalTid AS tid
FROM raw.pytorch_api AS api
JOIN trace.string ON string.text_id = api.name
WHERE starts_with(string.text, 'Dequeue')
