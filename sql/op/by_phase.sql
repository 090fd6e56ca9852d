-- One row is a phase of passes of a server and a framework op, with its calls and their cost, the largest own device time of
-- each phase first. A call is of the pass that runs on the host when it starts, its kernels are of the pass in which they run.
--
-- @guard pass.kernel
--
-- phase           VARCHAR  as in pass.kernel_phase
-- name_id         TEXT_ID  name of the op; NULL when the profile lost its text
-- calls           BIGINT   calls; an op of a replayed graph is a call in each replay
-- host_self_ns    BIGINT   their time on the host without that of the ops directly inside them, ns
-- kernel_count    BIGINT   kernels that they launched themselves
-- device_self_ns  BIGINT   time of these kernels, ns
-- share           DOUBLE   part of the device_self_ns of all ops of the phase; NULL when that is 0
WITH begun AS (
    SELECT
        host.host_start_ns,
        max(host.host_end_ns) AS host_end_ns,
        arg_max(coalesce(instance.phase, 'unknown'), (host.host_end_ns, host.pass_id)) AS phase
    FROM pass.host
    JOIN pass.instance USING (pass_id)
    GROUP BY host.host_start_ns
),
-- A record of a launch is a part of the op around it.
called AS (
    SELECT
        op.op_id,
        coalesce(around.name_id, op.name_id) AS name_id,
        coalesce(around.start_ns, op.start_ns) AS start_ns,
        launch.op_id IS NULL AS is_call
    FROM trace.op
    LEFT JOIN op.launch USING (op_id)
    LEFT JOIN trace.op AS around ON around.op_id = launch.call_id
    WHERE NOT op.is_step
),
call AS (
    SELECT
        called.op_id,
        called.name_id,
        called.is_call,
        if(called.start_ns < begun.host_end_ns, begun.phase, 'no pass') AS phase
    FROM called
    ANTI JOIN pass.annotation ON annotation.name_id = called.name_id
    ASOF LEFT JOIN begun ON called.start_ns >= begun.host_start_ns
),
part AS (
    SELECT
        coalesce(call.phase, 'no pass') AS phase,
        call.name_id,
        call.is_call::BIGINT AS calls,
        cost.host_self_ns,
        0 AS kernel_count,
        0 AS device_self_ns
    FROM call
    JOIN op.cost USING (op_id)
    UNION ALL
    SELECT kernel_phase.phase, called.name_id, 0, 0, count(*), sum(kernel.duration_ns)
    FROM module.kernel
    JOIN pass.kernel_phase USING (kernel_id)
    JOIN called USING (op_id)
    GROUP BY kernel_phase.phase, called.name_id
    UNION ALL
    SELECT
        kernel_phase.phase,
        replayed_op.name_id,
        count(DISTINCT replayed_op.op_id),
        0,
        count(*),
        sum(kernel.duration_ns)
    FROM trace.replayed_kernel
    JOIN trace.replayed_op USING (op_id)
    JOIN pass.kernel_phase USING (kernel_id)
    JOIN trace.kernel USING (kernel_id)
    WHERE replayed_op.is_op
    GROUP BY kernel_phase.phase, replayed_op.name_id
),
total AS (
    SELECT
        phase,
        name_id,
        sum(calls)::BIGINT AS calls,
        sum(host_self_ns)::BIGINT AS host_self_ns,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(device_self_ns)::BIGINT AS device_self_ns
    FROM part
    GROUP BY phase, name_id
)
SELECT total.*, device_self_ns / nullif(sum(device_self_ns) OVER (PARTITION BY phase), 0) AS share
FROM total
LEFT JOIN trace.string AS name ON name.text_id = total.name_id
WHERE is_chosen(name.text)
ORDER BY sum(device_self_ns) OVER (PARTITION BY phase) DESC, phase, device_self_ns DESC, host_self_ns DESC, name.text
