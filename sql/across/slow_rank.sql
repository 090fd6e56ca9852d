-- One row is a rank with the evidence of whether it makes others wait. Times are means over its steps.
--
-- profile                VARCHAR  the folder, the identity of the rank
-- rank_id                INTEGER  the rank; NULL when the files name none
-- pipeline_stage         BIGINT   pipeline stage; NULL when not recorded
-- dp_rank                BIGINT   rank among the data parallel ranks; NULL when not recorded
-- cp_rank                BIGINT   rank among the context parallel ranks; NULL when not recorded
-- tp_rank                BIGINT   rank among the tensor parallel ranks; NULL when not recorded
-- step_count             BIGINT   steps; 1 where there are none
-- step_ns                BIGINT   a step from its first start to its last end on the device, ns; NULL when not known
-- computing_ns           BIGINT   time with a compute kernel, ns; NULL when not known
-- p2p_elapse_ns          BIGINT   time of send and receive operators, ns; NULL without any
-- p2p_wait_ns            BIGINT   waits for other ranks in these, here or not, waiting_ns of communication.breakdown, ns; NULL
--                                 when known for none
-- collective_elapse_ns   BIGINT   time of the other communication operators, ns; NULL without any
-- collective_wait_ns     BIGINT   waits for other ranks in these, here or not, likewise, ns; NULL when known for none
-- waited_ns              BIGINT   time that it waited for other ranks, as summed from across.rank_communication, ns; NULL when
--                                 no other rank has its operators
-- last_count             BIGINT   collectives of all steps to which it came last while others waited; NULL where it does
--                                 not communicate
-- is_slow                BOOLEAN  whether others wait for it: they wait longer than it by 5 % of a step or more, and the widest
--                                 gap in the order of waited_ns is between it and them; NULL when no other rank has its
--                                 operators
WITH load AS (
    SELECT profile, rank_id, count(*) AS step_count, avg(span_ns)::BIGINT AS step_ns, avg(computing_ns)::BIGINT AS computing_ns
    FROM step.load
    GROUP BY profile, rank_id
),
communication AS (
    SELECT
        profile,
        rank_id,
        sum(elapse_ns) FILTER (kind = 'p2p') AS p2p_elapse_ns,
        sum(wait_ns) FILTER (kind = 'p2p') AS p2p_wait_ns,
        sum(elapse_ns) FILTER (kind = 'collective') AS collective_elapse_ns,
        sum(wait_ns) FILTER (kind = 'collective') AS collective_wait_ns,
        sum(elapse_ns) AS elapse_ns,
        sum(waited_ns) AS waited_ns,
        sum(last_count) AS last_count
    FROM across.rank_communication
    GROUP BY profile, rank_id
),
rank AS (
    SELECT
        parallel_rank.*,
        coalesce(load.step_count, 1) AS step_count,
        load.step_ns,
        load.computing_ns,
        (communication.p2p_elapse_ns // coalesce(load.step_count, 1))::BIGINT AS p2p_elapse_ns,
        (communication.p2p_wait_ns // coalesce(load.step_count, 1))::BIGINT AS p2p_wait_ns,
        (communication.collective_elapse_ns // coalesce(load.step_count, 1))::BIGINT AS collective_elapse_ns,
        (communication.collective_wait_ns // coalesce(load.step_count, 1))::BIGINT AS collective_wait_ns,
        (communication.waited_ns // coalesce(load.step_count, 1))::BIGINT AS waited_ns,
        communication.last_count::BIGINT AS last_count,
        coalesce(load.step_ns, load.computing_ns, communication.elapse_ns // coalesce(load.step_count, 1)) AS whole_ns
    FROM communication.parallel_rank
    LEFT JOIN load USING (profile)
    LEFT JOIN communication USING (profile)
    WHERE load.profile IS NOT NULL OR communication.profile IS NOT NULL
),
gap AS (
    SELECT profile, waited_ns, waited_ns - lag(waited_ns) OVER (ORDER BY waited_ns, profile) AS gap_ns
    FROM rank
    WHERE waited_ns IS NOT NULL
),
widest_gap AS (
    SELECT
        max(waited_ns) - min(waited_ns) >= 0.05 * (SELECT avg(whole_ns) FROM rank WHERE waited_ns IS NOT NULL) AS has_slow,
        arg_max(waited_ns, (gap_ns, -waited_ns)) FILTER (gap_ns IS NOT NULL) AS waiting_from_ns
    FROM gap
)
SELECT
    rank.* EXCLUDE (whole_ns),
    rank.waited_ns < widest_gap.waiting_from_ns AND widest_gap.has_slow AS is_slow
FROM rank
CROSS JOIN widest_gap
ORDER BY rank.rank_id, rank.profile
