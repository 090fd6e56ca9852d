SELECT name, group_name, TRY_CAST(regexp_extract(step, '(\d+)$', 1) AS BIGINT) AS step_id, link, size_bytes, duration_ns
FROM raw.recorded_transfer
