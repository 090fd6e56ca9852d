-- One row is a communication operator of the rank with the properties that the same operator has on other ranks. Names are no
-- such property: they end in an ordinal that also counts operators before the recording.
--
-- @columns kernel_id to group_name as in communication.breakdown
-- group_code   VARCHAR  digits of the group in the name, the same on all ranks; NULL without any
-- step_id      BIGINT   step, as in kernels.step, or as reported; NULL outside steps and without steps
-- elements     BIGINT   elements that it was called with; NULL when not recorded, and where ranks may have different ones
-- data_type    VARCHAR  data type of the elements, such as FP32; NULL when not recorded
-- is_together  BOOLEAN  whether no rank can leave it before all have come
-- start_ns     BIGINT   start, Unix ns; NULL when not reported
-- elapse_ns    BIGINT   its time, ns
-- wait_ns      BIGINT   waits for other ranks, waiting_ns of communication.breakdown, ns; NULL when not known
WITH reported_call AS (
    SELECT name, group_name, step_id, min(start_ns) AS start_ns
    FROM trace.reported_communication
    GROUP BY name, group_name, step_id
    HAVING count(*) = 1
)
SELECT
    breakdown.kernel_id,
    breakdown.name,
    breakdown.type,
    breakdown.operation,
    breakdown.kind,
    breakdown.group_name,
    group_code(breakdown.name) AS group_code,
    if(breakdown.kernel_id IS NULL, breakdown.step_id, kernel_step.step_id) AS step_id,
    if(
        breakdown.operation IN ('allreduce', 'allgather', 'reducescatter', 'broadcast')
        AND communication.element_count >= 0,
        communication.element_count,
        NULL
    ) AS elements,
    communication.data_type,
    coalesce(breakdown.operation NOT IN ('broadcast', 'reduce', 'gather', 'scatter'), false)
        AND breakdown.kind = 'collective' AS is_together,
    coalesce(breakdown.start_ns, reported_call.start_ns) AS start_ns,
    breakdown.elapse_ns,
    breakdown.waiting_ns AS wait_ns
FROM communication.breakdown
LEFT JOIN trace.communication USING (kernel_id)
LEFT JOIN kernels.step AS kernel_step USING (kernel_id)
LEFT JOIN reported_call
    ON breakdown.kernel_id IS NULL
    AND reported_call.name = breakdown.name
    AND reported_call.group_name IS NOT DISTINCT FROM breakdown.group_name
    AND reported_call.step_id IS NOT DISTINCT FROM breakdown.step_id
ORDER BY start_ns, length(breakdown.name), breakdown.name, breakdown.kernel_id
