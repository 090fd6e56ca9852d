SELECT
    * EXCLUDE (step, pair) REPLACE (if(link = 'LOCAL', 'ON_CHIP', link) AS link),
    TRY_CAST(regexp_extract(step, '(\d+)$', 1) AS BIGINT) AS step_id,
    TRY_CAST(split_part(pair, '-', 1) AS BIGINT) AS source_rank,
    TRY_CAST(split_part(pair, '-', 2) AS BIGINT) AS destination_rank
FROM raw.recorded_link
