-- One row is a pass that gaps between kernels show where no layers were found, with the moment when it begins on the device.
-- The lengths of gaps above the median fall into short and long ones where one is followed by the relatively longest next one,
-- if that is 4 times as long; long ones separate passes. A part without attention belongs to the pass before it.
--
-- @guard pass.without_choice
-- @unique part by start_ns: parts follow each other
--
-- start_ns  BIGINT  start of its first kernel on the device, Unix ns
WITH gap AS (
    SELECT start_ns, end_ns, end_ns - start_ns AS gap_ns
    FROM free.gap
    WHERE NOT EXISTS (FROM pass.layer_begin)
),
length AS (
    SELECT gap_ns, gap_ns / lag(gap_ns) OVER (ORDER BY gap_ns) AS ratio
    FROM (SELECT DISTINCT gap_ns FROM gap WHERE gap_ns >= (SELECT median(gap_ns) FROM gap))
),
threshold AS (
    SELECT arg_max(gap_ns, (ratio, gap_ns)) AS least_ns
    FROM length
    WHERE ratio >= 4
),
part AS (
    SELECT min(start_ns) AS start_ns
    FROM step.kernel_step
    WHERE NOT EXISTS (FROM pass.layer_begin)
    HAVING count(*) > 0
    UNION
    SELECT end_ns
    FROM gap
    -- All pairs: the threshold is one row.
    CROSS JOIN threshold
    WHERE gap_ns >= least_ns
),
attending AS (
    SELECT DISTINCT part.start_ns
    FROM trace.serving_kernel
    JOIN trace.kernel USING (kernel_id)
    ASOF JOIN part ON kernel.start_ns >= part.start_ns
    WHERE serving_kernel.part IN ('prefill attention', 'decode attention', 'attention')
)
-- What comes before the first attention belongs to the first pass.
SELECT if(row_number() OVER (ORDER BY start_ns) = 1, (SELECT min(start_ns) FROM part), start_ns) AS start_ns
FROM attending
ORDER BY start_ns
