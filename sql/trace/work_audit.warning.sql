-- Work on the device that the answers lack, or have only the time of, if it is more than 1 % of all work; and kernels whose
-- name says nothing, if those of one name are more than 5 %.
WITH whole AS (
    SELECT
        profile,
        sum(duration_ns) FILTER (place IN ('kernel', 'undescribed', 'copy', 'missing')) AS duration_ns,
        sum(row_count) FILTER (place IN ('kernel', 'undescribed', 'copy', 'missing')) AS row_count
    FROM trace.work_audit
    GROUP BY profile
),
part AS (
    SELECT
        profile,
        place,
        reason,
        string_agg(what, ', ' ORDER BY row_count DESC, what) AS kinds,
        sum(row_count)::BIGINT AS row_count,
        if(count(*) = count(duration_ns), sum(duration_ns)::BIGINT, NULL) AS duration_ns
    FROM trace.work_audit
    WHERE place IN ('undescribed', 'missing')
    GROUP BY profile, place, reason
)
SELECT
    part.profile,
    'warning' AS severity,
    format(
        '{} rows of work on the device ({}){} {}: {}',
        part.row_count,
        part.kinds,
        if(
            part.duration_ns IS NULL,
            ', whose time is not known,',
            format(' of {}, {:.1f}% of all its time,', shown_time(part.duration_ns), 100 * part.duration_ns / whole.duration_ns)
        ),
        if(part.place = 'missing', 'are in no answer', 'are kernels of unknown name, type and shapes'),
        part.reason
    ) AS sentence
FROM part
JOIN whole USING (profile)
WHERE coalesce(part.duration_ns > 0.01 * whole.duration_ns, part.row_count > 0.01 * whole.row_count)
UNION ALL
SELECT
    audit.profile,
    'warning',
    format(
        '{} takes {:.1f}% of the work on the device: {}',
        left(audit.what, 60),
        100 * audit.duration_ns / whole.duration_ns,
        audit.reason
    )
FROM trace.work_audit AS audit
JOIN whole USING (profile)
WHERE audit.place = 'kernel' AND audit.reason IS NOT NULL AND audit.duration_ns > 0.05 * whole.duration_ns
ORDER BY profile, sentence
