-- From the profile of the same process beside the snapshot.
SELECT
    tid,
    text_id(name) AS name_id,
    text_id(class) AS class_id,
    number,
    start_ns,
    end_ns,
    python_id,
    caller_id
FROM raw.beside_module_begin
