-- One row is a module and something that several of its kernels compute and one fused op could: their time, and how little the
-- fused op may need. Chains outside all steps do not count where there are steps.
--
-- pattern          VARCHAR  a pattern of chain.pattern
-- module           VARCHAR  path of the module of the last kernel, names joined by '/'; NULL outside modules
-- parts            VARCHAR  ops that launched the kernels of the first chain, in their order, joined by ', '; the type of a
--                           kernel that is linked to no op
-- chain_count      BIGINT   chains
-- kernel_count     BIGINT   their kernels that a fused op replaces
-- duration_ns      BIGINT   time of these kernels, ns
-- critical_ns      BIGINT   the part of it in kernels that are critical, as in critical.kernel, ns
-- gap_ns           BIGINT   time in which the device is idle inside of chains that are critical, ns
-- late_ns          BIGINT   of chains after which the device waits for the host: time from the launch of the first kernel to
--                           that of the last one, which one launch saves the host, ns; where a launch is not recorded, from the
--                           start of the first kernel to the end of the last one; the same for their backward
-- least_ns         BIGINT   time that the fused ops of critical chains need at least, ns: to read what the first kernel reads
--                           and write what the last one writes at the rate of roofline.bandwidth; where that is not known, the
--                           time of the shortest kernel of a chain
-- backward_ns      BIGINT   time of the kernels of the backward of these ops, ns; a fused op has one kernel for it
-- backward_critical_ns  BIGINT  the part of it in kernels that are critical, ns
-- win_ns           BIGINT   the most that a fused op can win, ns: for each chain, the critical time and the gaps without the
--                           least time, or the time of its launches; and the critical time of its backward
WITH recorded_steps AS (
    SELECT count(*) > 0 AS has_rows
    FROM step.period
),
member AS (
    SELECT
        member.chain_id,
        member.kernel_id,
        member.place,
        member.is_fused,
        kernel.path_id,
        kernel.op_id,
        coalesce(kernel.op_name_id, kernel.type_id) AS name_id,
        kernel.start_ns,
        kernel.end_ns,
        kernel.duration_ns,
        critical.is_critical,
        critical.critical_ns,
        device.launch_id,
        inputs.bytes AS read_bytes,
        outputs.bytes AS written_bytes
    FROM chain.member
    JOIN module.kernel USING (kernel_id)
    JOIN trace.kernel AS device USING (kernel_id)
    JOIN critical.kernel AS critical USING (kernel_id)
    CROSS JOIN recorded_steps
    LEFT JOIN roofline.tensors AS inputs
        ON inputs.shapes_id = device.input_shapes_id AND inputs.types_id = device.input_types_id
    LEFT JOIN roofline.tensors AS outputs
        ON outputs.shapes_id = device.output_shapes_id AND outputs.types_id = device.output_types_id
    WHERE NOT recorded_steps.has_rows OR member.kernel_id IN (SELECT kernel_id FROM kernels.step)
),
-- Gaps that lie between two kernels of a chain.
gap AS (
    SELECT after.chain_id, sum(gap.end_ns - gap.start_ns) AS duration_ns
    FROM free.gap
    JOIN member AS after ON after.kernel_id = gap.kernel_after_id
    JOIN member AS before ON before.kernel_id = gap.kernel_before_id AND before.chain_id = after.chain_id
    GROUP BY after.chain_id
),
-- An op of a chain may lie inside the op that has the backward.
forward_op AS (
    SELECT DISTINCT chain_id, op_id
    FROM member
    WHERE is_fused AND op_id IS NOT NULL
    UNION
    SELECT member.chain_id, parent.parent_id
    FROM member
    JOIN op.parent USING (op_id)
    JOIN module.interval ON interval.forward_op_id = parent.parent_id
    WHERE member.is_fused
),
owner AS (
    SELECT interval.interval_id, min(forward_op.chain_id) AS chain_id
    FROM forward_op
    JOIN module.interval ON interval.forward_op_id = forward_op.op_id
    GROUP BY interval.interval_id
),
backward_kernel AS (
    SELECT
        owner.chain_id,
        kernel.start_ns,
        kernel.end_ns,
        kernel.duration_ns,
        kernel.launch_id,
        critical.is_critical,
        critical.critical_ns
    FROM owner
    JOIN module.op_interval USING (interval_id)
    JOIN module.kernel_op USING (op_id)
    JOIN trace.kernel USING (kernel_id)
    JOIN critical.kernel AS critical USING (kernel_id)
    WHERE kernel.kind = 'compute'
),
-- Of a million kernels, all launches take 0.6 s of CPU.
launch AS (
    SELECT launch_id, min(start_ns) AS start_ns
    FROM trace.launch
    WHERE launch_id IN (SELECT launch_id FROM member UNION ALL SELECT launch_id FROM backward_kernel)
    GROUP BY launch_id
),
backward AS (
    SELECT
        kernel.chain_id,
        sum(kernel.duration_ns) AS duration_ns,
        sum(kernel.critical_ns) AS critical_ns,
        CASE
            WHEN arg_max(kernel.is_critical, kernel.start_ns) THEN 0
            WHEN count(launch.start_ns) = count(*) THEN max(launch.start_ns) - min(launch.start_ns)
            ELSE max(kernel.end_ns) - min(kernel.start_ns)
        END AS late_ns
    FROM backward_kernel AS kernel
    LEFT JOIN launch USING (launch_id)
    GROUP BY kernel.chain_id
),
chain AS (
    SELECT
        member.chain_id,
        arg_max(member.path_id, member.place) AS path_id,
        arg_max(member.is_critical, member.place) AS is_critical,
        list(member.name_id ORDER BY member.place) FILTER (member.is_fused) AS name_ids,
        count(*) FILTER (member.is_fused) AS kernel_count,
        sum(member.duration_ns) FILTER (member.is_fused) AS duration_ns,
        coalesce(sum(member.critical_ns) FILTER (member.is_fused), 0) AS critical_ns,
        if(
            count(launch.start_ns) = count(*),
            max(launch.start_ns) - min(launch.start_ns),
            max(member.end_ns) - min(member.start_ns)
        ) AS launching_ns,
        arg_min(member.read_bytes, member.place) FILTER (member.is_fused)
            + arg_max(member.written_bytes, member.place) FILTER (member.is_fused) AS bytes,
        min(member.duration_ns) FILTER (member.is_fused) AS shortest_ns
    FROM member
    LEFT JOIN launch USING (launch_id)
    GROUP BY member.chain_id
),
weighed_chain AS (
    SELECT
        chain.*,
        if(chain.is_critical, coalesce(gap.duration_ns, 0), 0) AS gap_ns,
        if(chain.is_critical, 0, chain.launching_ns) + coalesce(backward.late_ns, 0) AS late_ns,
        if(
            chain.is_critical,
            least(chain.critical_ns, coalesce(chain.bytes * 1000 // bandwidth.bytes_per_us, chain.shortest_ns)),
            0
        ) AS least_ns,
        coalesce(backward.duration_ns, 0) AS backward_ns,
        coalesce(backward.critical_ns, 0) AS backward_critical_ns
    FROM chain
    LEFT JOIN gap USING (chain_id)
    LEFT JOIN backward USING (chain_id)
    LEFT JOIN roofline.bandwidth ON true
),
summed_chain AS (
    SELECT
        found.pattern,
        weighed_chain.path_id,
        arg_min(weighed_chain.name_ids, weighed_chain.chain_id) AS name_ids,
        count(*) AS chain_count,
        sum(weighed_chain.kernel_count)::BIGINT AS kernel_count,
        sum(weighed_chain.duration_ns)::BIGINT AS duration_ns,
        sum(weighed_chain.critical_ns)::BIGINT AS critical_ns,
        sum(weighed_chain.gap_ns)::BIGINT AS gap_ns,
        sum(weighed_chain.late_ns)::BIGINT AS late_ns,
        sum(weighed_chain.least_ns)::BIGINT AS least_ns,
        sum(weighed_chain.backward_ns)::BIGINT AS backward_ns,
        sum(weighed_chain.backward_critical_ns)::BIGINT AS backward_critical_ns
    FROM weighed_chain
    JOIN chain.found USING (chain_id)
    GROUP BY found.pattern, weighed_chain.path_id
),
worded_chain AS (
    SELECT
        summed_chain.pattern,
        summed_chain.path_id,
        string_agg(coalesce(name.text, '(not known)'), ', ' ORDER BY one.position) AS parts
    FROM summed_chain
    CROSS JOIN unnest(summed_chain.name_ids) WITH ORDINALITY AS one (name_id, position)
    LEFT JOIN trace.string AS name ON name.text_id = one.name_id
    GROUP BY summed_chain.pattern, summed_chain.path_id
)
SELECT
    summed_chain.pattern,
    path.module_path AS module,
    worded_chain.parts,
    summed_chain.chain_count,
    summed_chain.kernel_count,
    summed_chain.duration_ns,
    summed_chain.critical_ns,
    summed_chain.gap_ns,
    summed_chain.late_ns,
    summed_chain.least_ns,
    summed_chain.backward_ns,
    summed_chain.backward_critical_ns,
    summed_chain.critical_ns + summed_chain.gap_ns + summed_chain.late_ns - summed_chain.least_ns
        + summed_chain.backward_critical_ns AS win_ns
FROM summed_chain
JOIN worded_chain
    ON worded_chain.pattern = summed_chain.pattern AND worded_chain.path_id IS NOT DISTINCT FROM summed_chain.path_id
LEFT JOIN module.path ON path.path_id = summed_chain.path_id
ORDER BY win_ns DESC, summed_chain.pattern, summed_chain.path_id
