-- From the profile of the same process beside the snapshot.
SELECT
    range_id,
    origin,
    role::ENUM('module', 'step', 'data loading', 'checkpoint', 'communication', 'flops', 'attention') AS role,
    is_module_candidate,
    text_id(domain) AS domain_id,
    tid,
    text_id(name) AS name_id,
    text_id(recorded_name) AS recorded_name_id,
    start_ns,
    end_ns,
    duration_ns
FROM raw.beside_range
