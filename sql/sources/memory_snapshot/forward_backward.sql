-- From the profile of the same process beside the snapshot.
SELECT
    forward_op_id,
    backward_op_id
FROM raw.beside_forward_backward
