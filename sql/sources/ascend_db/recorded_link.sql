SELECT
    kind,
    type,
    group_name,
    TRY_CAST(regexp_extract(step, '(\d+)$', 1) AS BIGINT) AS step_id,
    TRY_CAST(split_part(pair, '-', 1) AS BIGINT) AS source_rank,
    TRY_CAST(split_part(pair, '-', 2) AS BIGINT) AS destination_rank,
    if(link = 'LOCAL', 'ON_CHIP', link) AS link,
    size_bytes,
    duration_ns
FROM raw.recorded_link
