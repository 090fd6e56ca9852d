-- One row is a type of kernels with their number and time as the profiler itself counted them: op_statistic.csv. It leaves
-- communication out.
--
-- type          VARCHAR  operator type, such as MatMulV3
-- kernel_count  BIGINT   kernels; NULL when the file does not tell it
-- total_ns      BIGINT   their time, ns; NULL when the file does not tell it
SELECT type, sum(kernel_count)::BIGINT AS kernel_count, sum(total_ns)::BIGINT AS total_ns
FROM raw.recorded_kernel_type
WHERE type IS NOT NULL
GROUP BY type
HAVING count(*) = count(kernel_count) AND count(*) = count(total_ns)
