-- One row is a launch for which the host's intervals prove another op than the profile recorded. All launches are checked when
-- an audit is requested, else only doubtful ones.
--
-- launch_id           BIGINT   the launch
-- recorded_op_id      BIGINT   the op that the profile recorded
-- recorded_op         VARCHAR  its name
-- derived_op_id       BIGINT   the op that the intervals prove, which is the one in use
-- derived_op          VARCHAR  its name
-- kernel_count        BIGINT   kernels of the launch
-- kernel_duration_ns  BIGINT   their time, ns
SELECT
    derived.launch_id,
    recorded.op_id AS recorded_op_id,
    recorded_name.text AS recorded_op,
    derived.op_id AS derived_op_id,
    derived_name.text AS derived_op,
    count(*) AS kernel_count,
    sum(kernel.duration_ns)::BIGINT AS kernel_duration_ns
FROM module.derived_link AS derived
JOIN module.recorded_link AS recorded USING (launch_id)
JOIN trace.kernel USING (launch_id)
JOIN trace.op AS recorded_op ON recorded_op.op_id = recorded.op_id
JOIN trace.op AS derived_op ON derived_op.op_id = derived.op_id
LEFT JOIN trace.string AS recorded_name ON recorded_name.text_id = recorded_op.name_id
LEFT JOIN trace.string AS derived_name ON derived_name.text_id = derived_op.name_id
WHERE derived.op_id <> recorded.op_id
GROUP BY ALL
ORDER BY launch_id
