-- One row is all calls of compiled graphs over all ranks. Records that several ranks share on one host, such as the devices of
-- one database, count once.
--
-- calls            BIGINT  calls
-- compiling_calls  BIGINT  calls that compile
-- whole_calls      BIGINT  calls whose entry is known, and so their whole time
-- adding_up        BIGINT  whole_calls in which front end, TorchAir and graph engine up to the end add up to the whole
SELECT
    count(*) AS calls,
    count(*) FILTER (is_compiling) AS compiling_calls,
    count(call_ns) AS whole_calls,
    count(*) FILTER (front_end_ns + torchair_python_ns + torchair_cpp_ns + ge_to_end_ns = call_ns) AS adding_up
FROM graph.call
WHERE profile IN (SELECT min(profile) FROM op.host GROUP BY host_profile)
