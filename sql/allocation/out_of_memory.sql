-- One row is an attempt to allocate memory of the device that failed, with the op that tried it, the first one first.
--
-- @guard trace.out_of_memory
--
-- @columns device_id to reserved_bytes as in trace.out_of_memory
-- step_id       BIGINT   profiler step; NULL outside steps
-- op_name_id    TEXT_ID  the innermost op on the thread at that moment, or that of the stack; NULL without one
-- memory_bytes  BIGINT   all memory of the device; NULL when not recorded
-- left_bytes    BIGINT   what the device had free, as recorded; else memory_bytes - reserved_bytes, with the memory of other
--                        processes and of the runtime; NULL when neither is known
-- site_id       TEXT_ID  the place in the program that tried it, as in allocation.call_site; NULL when not recorded
--
-- Attempts that fail are few, and so each is compared with all ops of its thread.
WITH op_at AS (
    SELECT event.event_id, arg_max(op.name_id, (op.start_ns, -op.end_ns, op.op_id)) AS name_id
    FROM trace.out_of_memory AS event
    -- All pairs: attempts that failed are few.
    JOIN trace.op ON op.tid = event.tid AND op.start_ns <= event.time_ns AND op.end_ns >= event.time_ns
    WHERE NOT op.is_step
    GROUP BY event.event_id
),
failure_in_step AS (
    SELECT event.*, if(event.time_ns < period.end_ns, period.step_id, NULL) AS step_id
    FROM trace.out_of_memory AS event
    ASOF LEFT JOIN step.period ON event.time_ns >= period.start_ns
)
SELECT
    failure_in_step.device_id,
    failure_in_step.time_ns,
    failure_in_step.size_bytes,
    failure_in_step.allocated_bytes,
    failure_in_step.reserved_bytes,
    failure_in_step.step_id,
    coalesce(op_at.name_id, stack.op_id) AS op_name_id,
    device.memory_bytes,
    coalesce(failure_in_step.free_bytes, device.memory_bytes - failure_in_step.reserved_bytes) AS left_bytes,
    call_site.site_id
FROM failure_in_step
LEFT JOIN trace.memory_stack AS stack USING (stack_id)
LEFT JOIN allocation.call_site USING (stack_id)
LEFT JOIN op_at USING (event_id)
LEFT JOIN trace.device_memory AS device ON device.device_id IS NOT DISTINCT FROM failure_in_step.device_id
WHERE getvariable('step_id') IS NULL OR failure_in_step.step_id = getvariable('step_id')
ORDER BY failure_in_step.time_ns, failure_in_step.event_id
