-- One row is a role of ranks where prefill and decode run apart (disaggregated serving), with their passes. Only passes of the
-- steady state count that serve requests: no drafts and no dummies.
--
-- role                             VARCHAR  prefill, decode or both, as in pass.role; NULL when not known
-- rank_count                       BIGINT   ranks
-- pass_count                       BIGINT   passes
-- median_request_count             BIGINT   median of the requests of a pass; NULL when not known
-- token_count                      BIGINT   tokens of all passes; NULL where those of one are not known
-- median_ns                        BIGINT   median of their time on the device, ns; NULL without passes
-- p90_ns                           BIGINT   time that 90 % of them do not exceed, ns
-- p99_ns                           BIGINT   time that 99 % of them do not exceed, ns
-- median_cycle_ns                  BIGINT   median of the time from the end of the passes before to their own end, ns
-- total_ns                         BIGINT   their time on the device, ns
-- computing_ns                     BIGINT   part of total_ns with a compute kernel, ns
-- communication_not_overlapped_ns  BIGINT   part with communication alone, ns
-- copying_not_overlapped_ns        BIGINT   part with copies alone, ns
-- idle_ns                          BIGINT   the rest, ns
-- movers                           VARCHAR  what moves the KV cache, as in pass.kv_time; NULL where nothing recorded does
-- kv_kernel_count                  BIGINT   kernels that move it, in passes and outside of them
-- kv_transfer_ns                   BIGINT   time with such a kernel, that of ranks added up, ns
-- kv_not_overlapped_ns             BIGINT   part of it without any other compute kernel, ns
-- kv_call_count                    BIGINT   calls on the host that move it
-- kv_host_ns                       BIGINT   time in them, ns
-- dummy_count                      BIGINT   passes without requests, which the others leave out
-- recording_ns                     BIGINT   the recordings on the device, ns
-- pass_share                       DOUBLE   part of the recordings in which a pass runs, whichever; NULL when that is 0
WITH of_pass AS (
    SELECT
        role.role,
        count(*) AS pass_count,
        quantile_disc(time.request_count, 0.5) AS median_request_count,
        if(count(time.token_count) = count(*), sum(time.token_count), NULL)::BIGINT AS token_count,
        quantile_disc(time.duration_ns, 0.5) AS median_ns,
        quantile_disc(time.duration_ns, 0.9) AS p90_ns,
        quantile_disc(time.duration_ns, 0.99) AS p99_ns,
        quantile_disc(time.cycle_ns, 0.5) AS median_cycle_ns,
        sum(time.duration_ns)::BIGINT AS total_ns,
        sum(time.computing_ns)::BIGINT AS computing_ns,
        sum(time.communication_not_overlapped_ns)::BIGINT AS communication_not_overlapped_ns,
        sum(time.copying_not_overlapped_ns)::BIGINT AS copying_not_overlapped_ns,
        sum(time.idle_ns)::BIGINT AS idle_ns
    FROM pass.time
    JOIN pass.role USING (profile)
    WHERE time.is_steady AND (time.phase IS NULL OR time.phase IN ('prefill', 'decode', 'mixed'))
    GROUP BY role.role
),
of_rank AS (
    SELECT
        role.role,
        count(*) AS rank_count,
        coalesce(sum(kv_kernel_count), 0)::BIGINT AS kv_kernel_count,
        coalesce(sum(kv_transfer_ns), 0)::BIGINT AS kv_transfer_ns,
        coalesce(sum(kv_not_overlapped_ns), 0)::BIGINT AS kv_not_overlapped_ns,
        coalesce(sum(kv_call_count), 0)::BIGINT AS kv_call_count,
        coalesce(sum(kv_host_ns), 0)::BIGINT AS kv_host_ns,
        sum(pass_rank.dummy_count)::BIGINT AS dummy_count,
        sum(pass_rank.recording_ns)::BIGINT AS recording_ns,
        sum(pass_rank.pass_ns) / nullif(sum(pass_rank.recording_ns), 0) AS pass_share
    FROM pass.role
    JOIN across.pass_rank USING (profile)
    LEFT JOIN pass.kv_time USING (profile)
    GROUP BY role.role
),
mover AS (
    SELECT DISTINCT role.role, unnest(string_split(kv_time.movers, ', ')) AS mover
    FROM pass.role
    JOIN pass.kv_time USING (profile)
),
of_mover AS (
    SELECT role, string_agg(mover, ', ' ORDER BY mover) AS movers
    FROM mover
    GROUP BY role
)
SELECT
    of_rank.role,
    rank_count,
    coalesce(pass_count, 0) AS pass_count,
    median_request_count,
    token_count,
    median_ns,
    p90_ns,
    p99_ns,
    median_cycle_ns,
    coalesce(total_ns, 0) AS total_ns,
    coalesce(computing_ns, 0) AS computing_ns,
    coalesce(communication_not_overlapped_ns, 0) AS communication_not_overlapped_ns,
    coalesce(copying_not_overlapped_ns, 0) AS copying_not_overlapped_ns,
    coalesce(idle_ns, 0) AS idle_ns,
    movers,
    kv_kernel_count,
    kv_transfer_ns,
    kv_not_overlapped_ns,
    kv_call_count,
    kv_host_ns,
    dummy_count,
    recording_ns,
    pass_share
FROM of_rank
LEFT JOIN of_pass ON of_pass.role IS NOT DISTINCT FROM of_rank.role
LEFT JOIN of_mover ON of_mover.role IS NOT DISTINCT FROM of_rank.role
ORDER BY list_position(['prefill', 'decode', 'both'], of_rank.role) NULLS LAST
