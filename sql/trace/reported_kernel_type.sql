-- One row is a type of kernels with their number and time as the profiler itself reported them: op_statistic.csv, which leaves
-- out communication. A type without number or time has no row.
--
-- type          VARCHAR  operator type, such as MatMulV3
-- kernel_count  BIGINT   kernels
-- total_ns      BIGINT   their time, ns
SELECT type, sum(kernel_count)::BIGINT AS kernel_count, sum(total_ns)::BIGINT AS total_ns
FROM raw.recorded_kernel_type
WHERE type IS NOT NULL
GROUP BY type
HAVING count(*) = count(kernel_count) AND count(*) = count(total_ns)
