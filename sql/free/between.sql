-- One row is a pair of kernels that follow each other, by their types, and the gaps between them, the largest total time first:
-- where idle time is in many short gaps, as between the kernels of a captured graph. In and between steps.
--
-- kernel_before_id  TEXT_ID  type of the kernel that ended last before the gap, or its name where the type is not known
-- kernel_after_id   TEXT_ID  the same of the kernel that ended the gap
-- gap_count         BIGINT   gaps
-- total_ns          BIGINT   their time, ns
-- share             DOUBLE   part of the time of all gaps
-- mean_ns           DOUBLE   mean time of a gap, ns
-- max_ns            BIGINT   longest gap, ns
WITH summed_gap AS (
    SELECT
        coalesce(before.type_id, before.name_id) AS kernel_before_id,
        coalesce(after.type_id, after.name_id) AS kernel_after_id,
        count(*) AS gap_count,
        sum(gap.end_ns - gap.start_ns)::BIGINT AS total_ns,
        max(gap.end_ns - gap.start_ns) AS max_ns
    FROM free.gap
    JOIN trace.kernel AS before ON before.kernel_id = gap.kernel_before_id
    JOIN trace.kernel AS after ON after.kernel_id = gap.kernel_after_id
    GROUP BY ALL
)
SELECT
    summed_gap.kernel_before_id,
    summed_gap.kernel_after_id,
    summed_gap.gap_count,
    summed_gap.total_ns,
    summed_gap.total_ns / sum(summed_gap.total_ns) OVER () AS share,
    summed_gap.total_ns / summed_gap.gap_count AS mean_ns,
    summed_gap.max_ns
FROM summed_gap
LEFT JOIN trace.string AS before ON before.text_id = summed_gap.kernel_before_id
LEFT JOIN trace.string AS after ON after.text_id = summed_gap.kernel_after_id
ORDER BY summed_gap.total_ns DESC, before.text, after.text
