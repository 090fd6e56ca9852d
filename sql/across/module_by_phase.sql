-- One row is a phase of passes of a server and a module path, with the time of its kernels over all ranks, the largest time of
-- each phase first. Kernels outside modules have a row of their own.
--
-- @columns phase to own_kernel_count as in module.by_phase
WITH total AS (
    SELECT
        phase,
        parent_module,
        module,
        sum(computing_ns)::BIGINT AS computing_ns,
        sum(own_computing_ns)::BIGINT AS own_computing_ns,
        sum(own_kernel_duration_ns)::BIGINT AS own_kernel_duration_ns,
        sum(own_kernel_count)::BIGINT AS own_kernel_count
    FROM module.by_phase
    GROUP BY phase, parent_module, module
),
whole AS (
    SELECT phase, sum(own_computing_ns) AS computing_ns
    FROM total
    GROUP BY phase
)
SELECT
    total.phase,
    total.parent_module,
    total.module,
    total.computing_ns,
    total.computing_ns / nullif(whole.computing_ns, 0) AS share,
    total.own_computing_ns,
    total.own_kernel_duration_ns,
    total.own_kernel_count
FROM total
JOIN whole USING (phase)
ORDER BY whole.computing_ns DESC, phase, total.computing_ns DESC, parent_module, module
