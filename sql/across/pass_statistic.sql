-- One row is a phase and a number of requests, with how long such passes took, those of the most time first. Only passes of the
-- steady state count, on all ranks.
--
-- phase                            VARCHAR  as in pass.instance; NULL when not known
-- request_count                    BIGINT   requests of each pass; NULL when not known
-- pass_count                       BIGINT   passes
-- token_count                      BIGINT   tokens of all of them; NULL where those of one are not known
-- median_ns                        BIGINT   median of their time on the device, ns
-- p90_ns                           BIGINT   time that 90 % of them do not exceed, ns
-- p99_ns                           BIGINT   time that 99 % of them do not exceed, ns
-- max_ns                           BIGINT   the longest, ns
-- median_gap_ns                    BIGINT   median of the time before them that belongs to no pass, ns
-- p90_gap_ns                       BIGINT   time that 90 % of these do not exceed, ns
-- p99_gap_ns                       BIGINT   time that 99 % of these do not exceed, ns
-- median_cycle_ns                  BIGINT   median of both together, ns
-- p90_cycle_ns                     BIGINT   time that 90 % of these do not exceed, ns
-- p99_cycle_ns                     BIGINT   time that 99 % of these do not exceed, ns
-- median_host_before_ns            BIGINT   median of the time on the host between them and the passes before, ns; NULL when
--                                           not known
-- total_ns                         BIGINT   their time on the device, ns
-- gap_before_ns                    BIGINT   time before them that belongs to no pass, ns
-- computing_ns                     BIGINT   part of total_ns with a compute kernel, ns
-- communication_not_overlapped_ns  BIGINT   part with communication alone, ns
-- copying_not_overlapped_ns        BIGINT   part with copies alone, ns
-- idle_ns                          BIGINT   the rest, ns
-- share                            DOUBLE   part of the time of all passes, with what lies before them; NULL when that is 0
WITH grouped AS (
    SELECT
        phase,
        request_count,
        count(*) AS pass_count,
        if(count(token_count) = count(*), sum(token_count), NULL)::BIGINT AS token_count,
        quantile_disc(duration_ns, 0.5) AS median_ns,
        quantile_disc(duration_ns, 0.9) AS p90_ns,
        quantile_disc(duration_ns, 0.99) AS p99_ns,
        max(duration_ns) AS max_ns,
        quantile_disc(gap_before_ns, 0.5) AS median_gap_ns,
        quantile_disc(gap_before_ns, 0.9) AS p90_gap_ns,
        quantile_disc(gap_before_ns, 0.99) AS p99_gap_ns,
        quantile_disc(cycle_ns, 0.5) AS median_cycle_ns,
        quantile_disc(cycle_ns, 0.9) AS p90_cycle_ns,
        quantile_disc(cycle_ns, 0.99) AS p99_cycle_ns,
        quantile_disc(host_before_ns, 0.5) AS median_host_before_ns,
        sum(duration_ns)::BIGINT AS total_ns,
        sum(gap_before_ns)::BIGINT AS gap_before_ns,
        sum(computing_ns)::BIGINT AS computing_ns,
        sum(communication_not_overlapped_ns)::BIGINT AS communication_not_overlapped_ns,
        sum(copying_not_overlapped_ns)::BIGINT AS copying_not_overlapped_ns,
        sum(idle_ns)::BIGINT AS idle_ns
    FROM pass.time
    WHERE is_steady
    GROUP BY phase, request_count
)
SELECT *, (total_ns + gap_before_ns) / nullif(sum(total_ns + gap_before_ns) OVER (), 0) AS share
FROM grouped
ORDER BY total_ns + gap_before_ns DESC, phase, request_count
