-- One row is a call on the host into the software of the device, such as CANN or CUDA, with its own time and the time in which
-- the device was idle meanwhile. With a step chosen, only the calls that started in that step.
--
-- @unique gap by start_ns: gaps do not overlap
--
-- host_api_id  BIGINT   a call of trace.host_api
-- level        ENUM('acl', 'model', 'node', 'communication', 'runtime')  as in trace.host_api
-- name_id      TEXT_ID  name, such as aclrtSynchronizeStream; NULL when the profile lost its text
-- role         ENUM('launch', 'synchronise', 'copy', 'allocate', 'compile')  as in trace.host_api
-- duration_ns  BIGINT   end - start
-- self_ns      BIGINT   its time without that of the calls directly inside it on its thread, ns; where these overlap, their
--                       time is subtracted once
-- idle_ns      BIGINT   how long the device was idle during the call (free.gap), ns; NULL where the rank has no kernels
WITH chosen_call AS (
    SELECT host_api.*
    FROM trace.host_api
    -- All pairs: periods of the chosen step are few.
    LEFT JOIN step.selected ON host_api.start_ns >= selected.start_ns AND host_api.start_ns < selected.end_ns
    WHERE getvariable('step_id') IS NULL OR selected.start_ns IS NOT NULL
),
inside AS (
    SELECT parent.parent_id AS host_api_id, call.start_ns, call.end_ns
    FROM trace.host_api AS call
    JOIN api.parent USING (host_api_id)
    WHERE parent.parent_id IS NOT NULL
),
-- The time that the calls inside one cover.
inside_total AS (
    SELECT host_api_id, sum(added_ns)::BIGINT AS inside_ns
    FROM added(inside, host_api_id)
    GROUP BY host_api_id
),
gap AS (
    SELECT
        start_ns - clock.offset_ns AS start_ns,
        end_ns - clock.offset_ns AS end_ns,
        sum(end_ns - start_ns) OVER (ORDER BY start_ns ROWS UNBOUNDED PRECEDING) - (end_ns - start_ns) AS before_ns
    FROM free.gap
    CROSS JOIN clock.offset AS clock
),
-- How long the device had been idle up to the start, and up to the end, of a call.
up_to_start AS (
    SELECT host_api_id, gap.before_ns + least(chosen_call.start_ns, gap.end_ns) - gap.start_ns AS idle_ns
    FROM chosen_call
    ASOF JOIN gap ON gap.start_ns <= chosen_call.start_ns
),
up_to_end AS (
    SELECT host_api_id, gap.before_ns + least(chosen_call.end_ns, gap.end_ns) - gap.start_ns AS idle_ns
    FROM chosen_call
    ASOF JOIN gap ON gap.start_ns <= chosen_call.end_ns
),
kernels AS (
    SELECT count(*) AS kernel_count
    FROM step.kernel_step
)
SELECT
    chosen_call.host_api_id,
    chosen_call.level,
    chosen_call.name_id,
    chosen_call.role,
    chosen_call.duration_ns,
    chosen_call.duration_ns - coalesce(inside_total.inside_ns, 0) AS self_ns,
    if(kernels.kernel_count > 0, (coalesce(up_to_end.idle_ns, 0) - coalesce(up_to_start.idle_ns, 0))::BIGINT, NULL) AS idle_ns
FROM chosen_call
LEFT JOIN inside_total USING (host_api_id)
LEFT JOIN up_to_start USING (host_api_id)
LEFT JOIN up_to_end USING (host_api_id)
CROSS JOIN kernels
