-- From the profile of the same process beside the snapshot.
SELECT
    step_id,
    start_ns,
    end_ns
FROM raw.beside_step
