SELECT
    * EXCLUDE (step),
    TRY_CAST(regexp_extract(step, '(\d+)$', 1) AS BIGINT) AS step_id
FROM raw.recorded_transfer
