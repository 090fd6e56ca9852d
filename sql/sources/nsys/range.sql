-- Ranges of NVTX have the part of mstx ranges. In the default domain, the domain is a part of the name, as in ranges of
-- record_function. Ranges that name modules come from hooks. Without any, FSDP says where the forward of each of its modules
-- began and ended: both are ranges of its own.
WITH named_range AS (
    SELECT event_id, name, pid, tid, start_ns, end_ns, domain
    FROM raw.nvtx_range
    WHERE is_host_time(start_ns, end_ns)
),
name_of_range AS (
    SELECT
        text_id AS name,
        text,
        module_in_nvtx(text) AS module,
        CASE
            WHEN starts_with(text, 'nn.Module: ') OR starts_with(text, '{''Module'': ''') THEN 'module'
            WHEN number_of_step(text) IS NOT NULL THEN 'step'
            ELSE role_of_annotation(text)
        END AS role
    FROM trace.string
    WHERE text_id IN (SELECT name FROM named_range)
),
placed_range AS (
    SELECT
        named_range.*,
        CASE
            WHEN domain_name.text = 'NCCL' THEN 'communication'
            WHEN named_range.domain IS NULL THEN name_of_range.role
        END AS role,
        name_of_range.text,
        name_of_range.module
    FROM named_range
    LEFT JOIN name_of_range USING (name)
    LEFT JOIN trace.string AS domain_name ON domain_name.text_id = named_range.domain
),
fsdp_name AS (
    SELECT text_id AS name, module_in_nvtx(text) AS module, starts_with(text, 'FSDP::pre_forward') AS is_begin
    FROM trace.string
    WHERE regexp_matches(text, '^FSDP::(pre|post)_forward \(')
),
-- A range of FSDP is an op where emit_nvtx made it.
fsdp_end AS (
    SELECT event_id, name, thread_id(pid, tid) AS tid, start_ns, end_ns FROM raw.nvtx_op
    WHERE name IN (SELECT name FROM fsdp_name) AND is_host_time(start_ns, end_ns)
    UNION ALL
    SELECT event_id, name, thread_id(pid, tid), start_ns, end_ns FROM named_range
    WHERE name IN (SELECT name FROM fsdp_name)
),
fsdp_call AS (
    SELECT
        fsdp_end.event_id,
        fsdp_end.name,
        fsdp_end.tid,
        fsdp_end.start_ns,
        fsdp_name.module,
        fsdp_name.is_begin,
        lead(fsdp_name.is_begin) OVER of_module AS next_is_begin,
        lead(fsdp_end.end_ns) OVER of_module AS end_ns
    FROM fsdp_end
    JOIN fsdp_name USING (name)
    WINDOW of_module AS (PARTITION BY fsdp_end.tid, fsdp_name.module ORDER BY fsdp_end.start_ns, fsdp_end.event_id)
)
SELECT
    event_id AS range_id,
    if(role = 'module', 'nn.Module', 'NVTX') AS origin,
    role::ENUM('module', 'step', 'data loading', 'checkpoint', 'communication', 'flops', 'attention') AS role,
    role IS NULL AS is_module_candidate,
    CASE
        WHEN role = 'module' THEN NULL
        WHEN domain IS NOT NULL THEN domain
        WHEN role IN ('step', 'data loading') THEN text_id('default')
        ELSE text_id(domain_of_annotation(text))
    END AS domain_id,
    thread_id(pid, tid) AS tid,
    CASE
        WHEN role = 'module' THEN text_id(coalesce(last_name_of_module(module), class_of_traced_module(text)))
        WHEN domain IS NOT NULL THEN name
        ELSE text_id(name_in_domain(text))
    END AS name_id,
    name AS recorded_name_id,
    start_ns,
    end_ns,
    end_ns - start_ns AS duration_ns
FROM placed_range
UNION ALL
SELECT
    event_id,
    'FSDP',
    'module'::ENUM('module', 'step', 'data loading', 'checkpoint', 'communication', 'flops', 'attention'),
    false,
    NULL,
    tid,
    text_id(last_name_of_module(module)),
    text_id(module),
    start_ns,
    end_ns,
    end_ns - start_ns
FROM fsdp_call
WHERE is_begin AND NOT next_is_begin AND NOT EXISTS (FROM placed_range WHERE role = 'module')
