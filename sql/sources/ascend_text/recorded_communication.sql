SELECT
    name,
    group_name,
    TRY_CAST(regexp_extract(step, '(\d+)$', 1) AS BIGINT) AS step_id,
    kind,
    elapse_ns,
    transit_ns,
    wait_ns,
    synchronization_ns,
    idle_ns
FROM raw.recorded_communication
