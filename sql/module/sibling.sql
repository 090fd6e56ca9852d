-- One row is a module among siblings of its class that do the same work: in one call of the module around them there are
-- several of its class whose compute kernels, forward and backward together, have the same ops, types and shapes. A sibling
-- that does other work, such as a dense layer among layers with experts, is compared with others of its kind only, and has no
-- row without any. Where steps are recorded, calls outside steps do not count. Work that runs again in a backward
-- (recomputation) does not count either, nor the backward inside it.
--
-- parent_module   VARCHAR  names of the modules around it joined by '/'
-- module          VARCHAR  class name of the module
-- number          BIGINT   which of the modules of this name in a call of the module around them, from 0
-- variant         BIGINT   which work it does, from 0: siblings of one variant have the same kernels; a module that does now
--                          this and now that work has several rows
-- sibling_count   BIGINT   siblings of this variant, itself included, at least 2
-- call_count      BIGINT   calls
-- total_ns        BIGINT   time of their compute kernels, those of the backward and of modules inside included, ns
-- critical_ns     BIGINT   part of total_ns in critical kernels, as in critical.kernel: where it is 0, faster kernels win
--                          nothing
-- median_ns       BIGINT   the smallest time that at least half of its calls do not exceed, ns
-- usual_ns        BIGINT   the median of median_ns over the siblings of this variant, ns
-- deviation_ns    BIGINT   median of the absolute differences from usual_ns of their median_ns, ns
-- slower_op_id    TEXT_ID  the op in it whose kernels take most time above the median of the siblings; NULL when none does
-- slower_type_id  TEXT_ID  type of these kernels; NULL when it is not known, or no op takes more
-- slower_ns       BIGINT   how much more these take in all its calls, ns; NULL when no op takes more
-- has_shapes      BOOLEAN  whether shapes of its kernels or ops are recorded; without any, siblings may get inputs of other
--                          sizes
WITH RECURSIVE forward_call AS (
    SELECT
        call.range_id,
        call.parent_range_id,
        call.path_key,
        interval.name_id,
        row_number() OVER (PARTITION BY call.parent_range_id, interval.name_id ORDER BY call.range_id) - 1 AS number,
        count(*) OVER (PARTITION BY call.parent_range_id, interval.name_id) AS named_count,
        interval.start_ns
    FROM module.call
    JOIN module.interval USING (interval_id)
    WHERE call.interval_id = call.range_id AND NOT call.is_backward
),
in_step AS (
    SELECT call.range_id
    FROM forward_call AS call
    ASOF JOIN step.period ON call.start_ns >= period.start_ns
    WHERE call.start_ns < period.end_ns
),
counted_call AS (
    SELECT call.range_id, parent.path_key AS parent_key, call.path_key, call.name_id, call.number
    FROM forward_call AS call
    JOIN forward_call AS parent ON parent.range_id = call.parent_range_id
    WHERE call.named_count > 1
        AND (call.range_id IN (SELECT range_id FROM in_step) OR NOT EXISTS (FROM in_step))
),
-- Each of these with itself and the calls inside it.
inside AS (
    SELECT range_id, range_id AS inner_id
    FROM counted_call
    UNION ALL
    SELECT inside.range_id, forward_call.range_id
    FROM inside
    JOIN forward_call ON forward_call.parent_range_id = inside.inner_id
),
work AS (
    SELECT
        inside.range_id,
        call.is_backward,
        coalesce(op.name_id, kernel.op_name_id) AS op_name_id,
        kernel.type_id,
        -- Where kernels have no shapes of their own, those of their ops are compared.
        coalesce(kernel.input_shapes_id, op.input_shapes_id) AS input_shapes_id,
        count(*) AS kernel_count,
        sum(kernel.duration_ns)::BIGINT AS duration_ns,
        coalesce(sum(critical.critical_ns), 0)::BIGINT AS critical_ns
    FROM module.kernel
    JOIN module.call USING (interval_id)
    JOIN inside ON inside.inner_id = call.range_id
    LEFT JOIN critical.kernel AS critical USING (kernel_id)
    -- A record of a launch is a part of the op around it.
    LEFT JOIN op.launch USING (op_id)
    LEFT JOIN trace.op ON op.op_id = coalesce(launch.call_id, kernel.op_id)
    WHERE kernel.kind = 'compute'
    GROUP BY ALL
),
-- The kernels of a call without their order: the backward of two threads has no order.
done AS (
    SELECT
        range_id,
        sum(hash(is_backward, op_name_id, type_id, input_shapes_id, kernel_count)::HUGEINT) AS work_key,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns,
        count(input_shapes_id) > 0 AS has_shapes
    FROM work
    GROUP BY range_id
),
-- Rows of one module and variant; with paths by instance the path of each sibling is its own, so its class is what counts.
timed_call AS (
    SELECT
        counted_call.parent_key,
        counted_call.name_id,
        counted_call.number,
        done.work_key,
        min(counted_call.path_key) AS path_key,
        min(counted_call.range_id) AS first_id,
        count(*) AS call_count,
        sum(done.duration_ns)::BIGINT AS total_ns,
        sum(done.critical_ns)::BIGINT AS critical_ns,
        bool_or(done.has_shapes) AS has_shapes,
        quantile_disc(done.duration_ns, 0.5) AS median_ns
    FROM done
    JOIN counted_call USING (range_id)
    GROUP BY ALL
),
compared_call AS (
    SELECT
        *,
        count(*) OVER of_variant AS sibling_count,
        quantile_disc(median_ns, 0.5) OVER of_variant AS usual_ns,
        min(first_id) OVER of_variant AS variant_id
    FROM timed_call
    WINDOW of_variant AS (PARTITION BY parent_key, name_id, work_key)
),
deviating AS (
    SELECT
        *,
        quantile_disc(abs(median_ns - usual_ns), 0.5) OVER (PARTITION BY parent_key, name_id, work_key) AS deviation_ns,
        dense_rank() OVER (PARTITION BY parent_key, name_id ORDER BY variant_id) - 1 AS variant
    FROM compared_call
    WHERE sibling_count > 1
),
of_op AS (
    SELECT
        deviating.parent_key,
        deviating.name_id,
        deviating.number,
        deviating.work_key,
        work.op_name_id,
        work.type_id,
        min(deviating.call_count) AS call_count,
        sum(work.duration_ns)::BIGINT AS duration_ns
    FROM work
    JOIN done USING (range_id)
    JOIN counted_call USING (range_id)
    JOIN deviating
        ON deviating.parent_key = counted_call.parent_key
        AND deviating.name_id = counted_call.name_id
        AND deviating.number = counted_call.number
        AND deviating.work_key = done.work_key
    GROUP BY ALL
),
above AS (
    SELECT
        *,
        duration_ns - call_count * quantile_disc(duration_ns // call_count, 0.5)
            OVER (PARTITION BY parent_key, name_id, work_key, op_name_id, type_id) AS above_ns
    FROM of_op
),
slower AS (
    SELECT above.*
    FROM above
    LEFT JOIN trace.string AS op_name ON op_name.text_id = above.op_name_id
    LEFT JOIN trace.string AS type ON type.text_id = above.type_id
    WHERE above.above_ns > 0
    QUALIFY row_number() OVER (
        PARTITION BY parent_key, name_id, number, work_key ORDER BY above.above_ns DESC, op_name.text, type.text
    ) = 1
)
SELECT
    path.parent_module,
    name.text AS module,
    deviating.number,
    deviating.variant,
    deviating.sibling_count,
    deviating.call_count,
    deviating.total_ns,
    deviating.critical_ns,
    deviating.median_ns,
    deviating.usual_ns,
    deviating.deviation_ns,
    slower.op_name_id AS slower_op_id,
    slower.type_id AS slower_type_id,
    slower.above_ns AS slower_ns,
    deviating.has_shapes
FROM deviating
JOIN module.path ON path.path_key = deviating.path_key AND NOT path.is_backward
LEFT JOIN trace.string AS name ON name.text_id = deviating.name_id
LEFT JOIN slower
    ON slower.parent_key = deviating.parent_key
    AND slower.name_id = deviating.name_id
    AND slower.number = deviating.number
    AND slower.work_key = deviating.work_key
ORDER BY path.path_id, deviating.variant, deviating.number
