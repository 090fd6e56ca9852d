-- One row is a rank whose cores that multiply matrices have nothing to do while its vector cores compute.
-- Requires compute.
--
-- profile to sql as in advice.finding_of_rank
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_idle_share') AS least_idle_share
    FROM advice.threshold
    WHERE rule = 'cube_idle'
)
SELECT
    profile,
    rank_id,
    'Matrix cores idle while vector cores compute' AS title,
    NULL::VARCHAR AS module,
    NULL::VARCHAR AS op,
    NULL::VARCHAR AS kernel_type,
    format(
        'Only vector cores work for {}, {} of the {} in which the device computes, on {}',
        shown_time(only_vector_ns),
        shown_share(only_vector_ns / computing_ns),
        shown_time(computing_ns),
        if(stream_count = 1, 'one stream', stream_count || ' streams')
    ) AS evidence,
    NULL::BIGINT AS count,
    only_vector_ns AS time_ns,
    NULL::BIGINT AS win_ns,
    'hint' AS kind,
    'Fuse vector ops into fewer kernels or into the matmul before them, or run what does not depend on each other on two '
    || 'streams, such as shared and routed experts; kernel-stats shows the vector kernels.' AS what_to_do,
    'docs/rules.md#cube-idle' AS doc,
    'SELECT only_vector_ns, computing_ns, stream_count, rank_id FROM kernels.engine_time '
    || 'ORDER BY only_vector_ns DESC LIMIT 20' AS sql
FROM kernels.engine_time
CROSS JOIN threshold
WHERE only_vector_ns >= threshold.least_idle_share * computing_ns
