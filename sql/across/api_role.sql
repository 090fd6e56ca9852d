-- One row is a role of host calls with their number and times over all ranks, also of those that --filter does not choose, the
-- largest own time first. Calls that several ranks share count once, as in across.api_duration.
--
-- role           VARCHAR  launch, synchronise, copy, allocate or compile, as in trace.host_api; NULL for all other calls
-- calls          BIGINT   calls
-- self_ns        BIGINT   their time without that of the calls inside them, ns; NULL where api_statistic.csv alone reports some
-- idle_ns        BIGINT   how long the device was idle during them, ns; NULL where no rank has kernels
-- total_ns       BIGINT   their time, ns; a call inside a call counts in both
-- rows_left_out  BIGINT   rows that across.api_statistic would have without --filter, and has not
SELECT
    role,
    sum(call_count)::BIGINT AS calls,
    if(count(*) = count(self_ns), sum(self_ns)::BIGINT, NULL) AS self_ns,
    sum(idle_ns)::BIGINT AS idle_ns,
    sum(coalesce(total_ns, duration_ns * call_count))::BIGINT AS total_ns,
    count(DISTINCT (level, name)) FILTER (NOT is_chosen(name)) AS rows_left_out
FROM across.api_duration
GROUP BY role
ORDER BY self_ns DESC, total_ns DESC, role
