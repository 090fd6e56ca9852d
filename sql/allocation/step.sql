-- One row is a step and an allocator of a device: the least and the most that it held, and by how much the least has grown
-- since the step before.
--
-- step_id              BIGINT  profiler step
-- @columns component to device_id as in trace.memory_usage
-- floor_bytes          BIGINT  least that was allocated in the step, at its begin included; NULL when not recorded
-- peak_bytes           BIGINT  most that was allocated in the step, at its begin included; NULL when not recorded
-- peak_active_bytes    BIGINT  most that was active; NULL when not recorded
-- peak_reserved_bytes  BIGINT  most that was reserved; NULL when not recorded
-- growth_bytes         BIGINT  floor_bytes - that of the step before; NULL for the first step
-- block_count          BIGINT  blocks allocated in the step
-- new_bytes            BIGINT  their bytes
-- kept_bytes           BIGINT  bytes of those that were not released during the recording
WITH period AS (
    SELECT step_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM step.period
    GROUP BY step_id
),
allocator AS (
    SELECT DISTINCT component, role, device_id
    FROM trace.memory_usage
    WHERE allocated_bytes IS NOT NULL
),
recorded_total AS (
    SELECT usage.*, if(usage.time_ns < period.end_ns, period.step_id, NULL) AS step_id
    FROM trace.memory_usage AS usage
    ASOF LEFT JOIN step.period ON usage.time_ns >= period.start_ns
),
last_recorded AS (
    SELECT
        component,
        role,
        coalesce(device_id, -1) AS device_number,
        time_ns,
        arg_max(allocated_bytes, usage_id) AS allocated_bytes,
        arg_max(reserved_bytes, usage_id) AS reserved_bytes,
        arg_max(active_bytes, usage_id) AS active_bytes
    FROM trace.memory_usage
    WHERE allocated_bytes IS NOT NULL
    GROUP BY component, role, device_number, time_ns
),
-- An allocator holds at the begin of a step the memory that it held after its last event before.
at_begin AS (
    SELECT asked.step_id, asked.component, asked.role, asked.device_id, allocated_bytes, reserved_bytes, active_bytes
    -- All pairs: of a step there are the few allocators.
    FROM (SELECT *, coalesce(device_id, -1) AS device_number FROM period CROSS JOIN allocator) AS asked
    ASOF JOIN last_recorded
        ON last_recorded.component = asked.component
        AND last_recorded.role = asked.role
        AND last_recorded.device_number = asked.device_number
        AND last_recorded.time_ns <= asked.start_ns
),
first_recorded AS (
    SELECT component, role, device_id, step_id, time_ns, allocated_bytes
    FROM recorded_total
    WHERE allocated_bytes IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY component, role, device_id ORDER BY time_ns, usage_id) = 1
),
-- Before the first event of all, it held less by the block of this event.
before_first AS (
    SELECT
        first.step_id,
        first.component,
        first.role,
        first.device_id,
        first.allocated_bytes - block.size_bytes AS allocated_bytes,
        NULL::BIGINT AS reserved_bytes,
        NULL::BIGINT AS active_bytes
    FROM first_recorded AS first
    JOIN allocation.every_block AS block
        ON block.allocated_ns = first.time_ns
        AND block.component = first.component
        AND block.role::VARCHAR = first.role::VARCHAR
        AND block.device_id IS NOT DISTINCT FROM first.device_id
    WHERE first.step_id IS NOT NULL AND block.size_bytes <= first.allocated_bytes
),
total_of_step AS (
    FROM at_begin
    UNION ALL
    FROM before_first
    UNION ALL
    SELECT step_id, component, role, device_id, allocated_bytes, reserved_bytes, active_bytes
    FROM recorded_total
    WHERE step_id IS NOT NULL AND allocated_bytes IS NOT NULL
),
of_step AS (
    SELECT
        step_id,
        component,
        role,
        device_id,
        min(allocated_bytes) AS floor_bytes,
        max(allocated_bytes) AS peak_bytes,
        max(active_bytes) AS peak_active_bytes,
        max(reserved_bytes) AS peak_reserved_bytes
    FROM total_of_step
    GROUP BY ALL
),
of_blocks AS (
    SELECT
        step_id,
        component,
        role::VARCHAR AS role,
        device_id,
        count(*) AS block_count,
        sum(size_bytes) AS new_bytes,
        sum(size_bytes) FILTER (released_ns IS NULL) AS kept_bytes
    FROM allocation.every_block
    WHERE step_id IS NOT NULL
    GROUP BY ALL
),
grown AS (
    SELECT *, floor_bytes - lag(floor_bytes) OVER (PARTITION BY component, role, device_id ORDER BY step_id) AS growth_bytes
    FROM of_step
)
SELECT
    grown.step_id,
    grown.component,
    grown.role,
    grown.device_id,
    grown.floor_bytes,
    grown.peak_bytes,
    grown.peak_active_bytes,
    grown.peak_reserved_bytes,
    grown.growth_bytes,
    coalesce(of_blocks.block_count, 0) AS block_count,
    coalesce(of_blocks.new_bytes, 0)::BIGINT AS new_bytes,
    coalesce(of_blocks.kept_bytes, 0)::BIGINT AS kept_bytes
FROM grown
LEFT JOIN of_blocks
    ON of_blocks.step_id = grown.step_id
    AND of_blocks.component = grown.component
    AND of_blocks.role = grown.role::VARCHAR
    AND of_blocks.device_id IS NOT DISTINCT FROM grown.device_id
WHERE getvariable('step_id') IS NULL OR grown.step_id = getvariable('step_id')
ORDER BY grown.step_id, grown.role, grown.component, grown.device_id
