-- One row is the rank, if something in it moves the KV cache, with the time that this takes, in passes and outside of them.
--
-- @guard pass.kv_name
--
-- movers                VARCHAR  what moves it, as in pass.kv_name, split by commas
-- kv_kernel_count       BIGINT   kernels that move it
-- kv_transfer_ns        BIGINT   time with such a kernel, ns
-- kv_not_overlapped_ns  BIGINT   part of it without any other compute kernel, ns
-- kv_call_count         BIGINT   calls on the host that move it
-- kv_host_ns            BIGINT   time in them, that of all threads added up, ns
WITH moved AS (
    SELECT start_ns, end_ns
    FROM pass.kv_transfer
),
computed AS (
    SELECT start_ns, end_ns
    FROM step.kernel_step AS kernel
    ANTI JOIN pass.kv_transfer USING (kernel_id)
    WHERE kind = 'compute' AND (getvariable('step_id') IS NULL OR kernel.step_id = getvariable('step_id'))
),
part AS (
    SELECT 'moved' AS what, *
    FROM moved
    UNION ALL
    SELECT 'computed', *
    FROM computed
    UNION ALL
    SELECT 'any', *
    FROM moved
    UNION ALL
    SELECT 'any', *
    FROM computed
),
covered AS (
    SELECT
        coalesce(sum(added_ns) FILTER (what = 'moved'), 0)::BIGINT AS moved_ns,
        coalesce(sum(added_ns) FILTER (what = 'computed'), 0)::BIGINT AS computed_ns,
        coalesce(sum(added_ns) FILTER (what = 'any'), 0)::BIGINT AS any_ns
    FROM added(part, what)
),
call AS (FROM pass.kv_call),
on_host AS (
    SELECT count(*) AS kv_call_count, coalesce(sum(added_ns), 0)::BIGINT AS kv_host_ns
    FROM added(call, tid)
),
mover AS (
    SELECT mover
    FROM pass.kv_transfer
    UNION
    SELECT mover
    FROM pass.kv_call
)
SELECT
    string_agg(mover, ', ' ORDER BY mover) AS movers,
    (SELECT count(*) FROM pass.kv_transfer) AS kv_kernel_count,
    min(covered.moved_ns) AS kv_transfer_ns,
    min(covered.any_ns - covered.computed_ns) AS kv_not_overlapped_ns,
    min(on_host.kv_call_count) AS kv_call_count,
    min(on_host.kv_host_ns) AS kv_host_ns
FROM mover
-- All pairs: the times are one row each.
CROSS JOIN covered
CROSS JOIN on_host
HAVING count(*) > 0
