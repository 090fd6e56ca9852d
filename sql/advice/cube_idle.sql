-- One row is a rank whose cores that multiply matrices have nothing to do while its vector cores compute.
--
-- @title Matrix cores idle while vector cores compute
-- @evidence Only vector cores work for {time_ns}, {vector_share} of the {computing_ns} in which the device computes, on
--     {stream_count|one stream|streams}
-- @kind hint
-- @remedy Fuse vector ops into fewer kernels or into the matmul before them, or run what does not depend on each other on two
--     streams, such as shared and routed experts; kernel-stats shows the vector kernels.
-- @query SELECT only_vector_ns, computing_ns, stream_count, rank_id FROM kernels.engine_time ORDER BY only_vector_ns DESC LIMIT
--     20
-- @counts none
-- @requires compute
-- @threshold least_idle_share 0.4: Share of computing in which vector cores alone work
--
-- @columns profile to rank_id, time_ns as in advice.finding_of_rank
-- vector_share  DOUBLE  share of computing in which only vector cores work
-- computing_ns  BIGINT  time in which the device computes, ns
-- stream_count  BIGINT  streams on which it computes
--
-- The time in which vector cores work and the cores that multiply matrices do not, from `kernels.engine_time`, if it is 40 % of
-- computing or more (`cube_idle.least_idle_share`, our choice). Only a hint, because dependent kernels cannot overlap. It
-- applies to devices with two kinds of cores. GPU traces do not say which unit a kernel used.
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_idle_share') AS least_idle_share
    FROM advice.threshold
    WHERE rule = 'cube_idle'
)
SELECT
    profile,
    rank_id,
    only_vector_ns AS time_ns,
    only_vector_ns / computing_ns AS vector_share,
    computing_ns,
    stream_count
FROM kernels.engine_time
CROSS JOIN threshold
WHERE only_vector_ns >= threshold.least_idle_share * computing_ns
