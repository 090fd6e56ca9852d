-- One row is a rank with links to other ranks that are slower than other links of their kind with the same packets.
-- Requires transfers or reported_communication.
--
-- profile to sql as in advice.finding_of_rank
WITH slow AS (
    SELECT
        profile,
        rank_id,
        count(*) AS link_count,
        sum(transfer_count)::BIGINT AS transfer_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(lost_ns)::BIGINT AS lost_ns,
        arg_max(
            struct_pack(
                source := coalesce(source_global_rank, source_rank),
                destination := coalesce(destination_global_rank, destination_rank),
                link := link,
                bandwidth := bandwidth_gb_s,
                usual := usual_gb_s
            ),
            lost_ns
        ) AS worst
    FROM across.link
    WHERE is_slow AND lost_ns > 0
    GROUP BY profile, rank_id
),
exposed AS (
    SELECT profile, sum(communication_not_overlapped_ns)::BIGINT AS exposed_ns
    FROM step.time
    WHERE stage_ns IS NOT NULL OR origin = 'profiler'
    GROUP BY profile
)
SELECT
    slow.profile,
    slow.rank_id,
    'A link is slower than others of its kind' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    concat(
        format(
            'from rank {} to rank {} over {}: {:.1f} GB/s, other pairs {:.1f} GB/s with the same packets; that costs {} of {}',
            worst.source,
            worst.destination,
            worst.link,
            worst.bandwidth,
            worst.usual,
            shown_time(lost_ns),
            shown_time(duration_ns)
        ),
        if(link_count > 1, format(' over {} such links', link_count), ''),
        if(exposed_ns < lost_ns, format('; computing covers all but {} of communication', shown_time(exposed_ns)), '')
    ) AS evidence,
    transfer_count AS count,
    lost_ns AS time_ns,
    least(lost_ns, coalesce(exposed_ns, lost_ns)) AS win_ns,
    'upper bound' AS kind,
    'Check this link and both devices: errors and speed of the port (hccn_tool, npu-smi on Ascend; nvidia-smi nvlink on '
    || 'NVIDIA), cables and optical modules, other jobs on the same switch; else exchange the device and record again.'
        AS what_to_do,
    'docs/rules.md#slow-link' AS doc,
    'SELECT lost_ns, bandwidth_gb_s, usual_gb_s, source_rank, destination_rank FROM across.link WHERE is_slow '
    || 'ORDER BY lost_ns DESC LIMIT 20' AS sql
FROM slow
LEFT JOIN exposed USING (profile)
