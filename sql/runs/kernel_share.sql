-- One row is a run that is compared with the base: the part of the kernel time of both in types and shapes of kernels that one
-- of them alone has.
--
-- run               VARCHAR  the run that is compared with the base
-- in_one_run_share  DOUBLE   their time / the time of all kernels; NULL when that is 0, and without kernels
WITH kernel AS (
    SELECT
        run,
        coalesce(kernel.change IN ('added', 'removed'), false) AS is_in_one_run,
        round(kernel.base_ns + kernel.new_ns)::BIGINT AS both_ns
    FROM runs.comparison
    LEFT JOIN runs.kernel_comparison AS kernel USING (run)
)
SELECT run, coalesce(sum(both_ns) FILTER (is_in_one_run), 0) / nullif(sum(both_ns), 0) AS in_one_run_share
FROM kernel
GROUP BY run
ORDER BY run
