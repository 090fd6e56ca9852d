-- One row is a forward call of a module as the host recorded it: an mstx start/end range of a module domain (`Module` unless
-- another is named), or, where there are none or they are not wanted, a module call that the Python tracer recorded. Calls in
-- replayed graphs are chosen by themselves in the same way.
--
-- range_id     BIGINT   a range of trace.range or trace.replayed_range
-- tid          BIGINT   host thread: process id * 2^32 + thread id; below 0 for a replay, as in trace.replayed_range
-- name_id      TEXT_ID  class name of the module; NULL when the profile lost its text
-- is_backward  BOOLEAN  true for backward work in a replayed graph
-- start_ns     BIGINT   start, Unix ns
-- end_ns       BIGINT   end, Unix ns
WITH marked_range AS (
    SELECT range.range_id, range.tid, range.name_id, range.start_ns, range.end_ns
    FROM trace.range
    JOIN trace.string AS domain ON domain.text_id = range.domain_id
    WHERE range.is_module_candidate AND domain.text IN getvariable('module_domains')
),
traced_range AS (
    SELECT range_id, tid, name_id, start_ns, end_ns
    FROM trace.range
    WHERE role = 'module'
),
chosen_range AS (
    SELECT
        -- Knows mstx: the word is what users pass as --module-source.
        if(getvariable('module_source') = 'auto', EXISTS (FROM marked_range), getvariable('module_source') = 'mstx')
            AS is_marked
),
replayed AS (
    SELECT range.*, range.role IS NULL AS is_marked
    FROM trace.replayed_range AS range
    LEFT JOIN trace.string AS domain ON domain.text_id = range.domain_id
    WHERE range.role = 'module' OR (range.is_module_candidate AND domain.text IN getvariable('module_domains'))
),
chosen_of_replays AS (
    SELECT
        CASE getvariable('module_source')
            WHEN 'auto' THEN EXISTS (FROM replayed WHERE is_marked)
            ELSE getvariable('module_source') = 'mstx'
        END AS is_marked
)
SELECT
    range_id,
    tid,
    name_id,
    false AS is_backward,
    start_ns,
    end_ns FROM marked_range CROSS JOIN chosen_range WHERE chosen_range.is_marked
UNION ALL
SELECT
    range_id,
    tid,
    name_id,
    false,
    start_ns,
    end_ns FROM traced_range CROSS JOIN chosen_range WHERE NOT chosen_range.is_marked
UNION ALL
SELECT range_id, tid, name_id, is_backward, start_ns, end_ns
FROM replayed
CROSS JOIN chosen_of_replays
WHERE replayed.is_marked = chosen_of_replays.is_marked
