-- One row is what calls of modules that cross leave open; where none cross there is no row.
--
-- @guard module.crossing
--
-- crossing_count      BIGINT   calls of module.crossing
-- modules             VARCHAR  up to three of their classes, joined by ', '
-- kernel_count        BIGINT   kernels that were launched while such a call and the one that it crosses had both begun and not
--                              ended; they belong to the one that began last
-- kernel_duration_ns  BIGINT   their time, ns
WITH in_order AS (
    SELECT
        interval.interval_id,
        interval.tid,
        interval.start_ns,
        -- By reached_before() the whole table takes a sixteenth more time.
        max(interval.end_ns) OVER (
            PARTITION BY interval.tid, interval_parent.parent_id
            ORDER BY interval.interval_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_ns
    FROM module.interval
    JOIN module.interval_parent USING (interval_id)
),
in_both AS (
    SELECT
        in_order.tid,
        in_order.start_ns,
        -- A crossing within a call that crosses another ends before that one does.
        max(max(in_order.reached_ns)) OVER (PARTITION BY in_order.tid ORDER BY in_order.start_ns) AS end_ns
    FROM in_order
    JOIN module.crossing USING (interval_id)
    WHERE in_order.reached_ns > in_order.start_ns
    GROUP BY in_order.tid, in_order.start_ns
),
launched_kernel AS (
    SELECT interval.tid, kernel.op_start_ns, kernel.duration_ns
    FROM module.kernel
    JOIN module.interval USING (interval_id)
),
total AS (
    SELECT count(*) AS kernel_count, coalesce(sum(launched_kernel.duration_ns), 0)::BIGINT AS kernel_duration_ns
    FROM launched_kernel
    ASOF JOIN in_both ON in_both.tid = launched_kernel.tid AND launched_kernel.op_start_ns >= in_both.start_ns
    WHERE launched_kernel.op_start_ns < in_both.end_ns
),
class AS (
    SELECT DISTINCT coalesce(string.text, '(name lost)') AS name
    FROM module.crossing
    LEFT JOIN trace.string ON string.text_id = crossing.name_id
    ORDER BY name
    LIMIT 3
)
SELECT
    (SELECT count(*) FROM module.crossing) AS crossing_count,
    (SELECT string_agg(name, ', ' ORDER BY name) FROM class) AS modules,
    total.kernel_count,
    total.kernel_duration_ns
FROM total
WHERE EXISTS (FROM module.crossing)
