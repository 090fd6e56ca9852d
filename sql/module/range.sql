-- One row is a forward call of a module as the host recorded it: an mstx start/end range of a module domain (`Module` unless
-- another is named), or, where there are none or they are not wanted, a module call that the Python tracer recorded.
--
-- range_id  BIGINT   a range of trace.range
-- tid       BIGINT   host thread: process id * 2^32 + thread id
-- name_id   TEXT_ID  class name of the module; NULL when the profile lost its text
-- start_ns  BIGINT   start, Unix ns
-- end_ns    BIGINT   end, Unix ns
WITH marked AS (
    SELECT range.range_id, range.tid, range.name_id, range.start_ns, range.end_ns
    FROM trace.range
    JOIN trace.string AS domain ON domain.text_id = range.domain_id
    WHERE range.is_module_candidate AND domain.text IN getvariable('module_domains')
),
traced AS (
    SELECT range_id, tid, name_id, start_ns, end_ns
    FROM trace.range
    WHERE role = 'module'
),
chosen AS (
    SELECT if(getvariable('module_source') = 'auto', EXISTS (FROM marked), getvariable('module_source') = 'mstx') AS is_marked
)
SELECT marked.* FROM marked CROSS JOIN chosen WHERE chosen.is_marked
UNION ALL
SELECT traced.* FROM traced CROSS JOIN chosen WHERE NOT chosen.is_marked
