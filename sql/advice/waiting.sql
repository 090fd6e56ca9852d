-- One row is a rank on which collectives wait for other ranks while the device does not compute, as the profiler measured it.
--
-- @title Collectives wait for other ranks
-- @evidence of {exposed_ns} of collectives without computing, {time_ns} ({waiting_share}) waits for other ranks and
--     {transferring_ns} transfers[; {late_ns} of it is for a rank that comes later, the rest all ranks wait
--     alike]{won_of_collectives(is_partly_won, critical_ns, win_ns)}[; {missing_count} of {is_exact?|at least }{job_rank_count}
--     ranks of the job {missing_count?is|are} not here, so that can be for {missing_count?it|them}]
-- @kind upper bound
-- @remedy Find who comes late with `prof-analysis slow-ranks`, with the profiles of all ranks. If it is always one rank, mend
--     that one; if it changes, even out the work: lengths of inputs, data loading, garbage collection at the same step on all
--     ranks (gc.freeze(), gc.disable()), host processes bound to cores.
-- @query SELECT waiting_ns, exposed_ns, op_count, type, rank_id FROM communication.exposed ORDER BY waiting_ns DESC LIMIT 50
-- @counts ranks
-- @requires transfers
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- exposed_ns       BIGINT   time of collectives without computing, ns
-- waiting_share    DOUBLE   time_ns / exposed_ns
-- transferring_ns  BIGINT   the part of exposed_ns that transfers, ns
-- late_ns          BIGINT   the part of time_ns for a rank that comes later, ns; NULL when it is all
-- critical_ns      BIGINT   the part of time_ns after which the device does not wait for the host, ns
-- is_partly_won    BOOLEAN  whether the device waits for the host after some of it
-- missing_count    BIGINT   ranks of the job that are not here; NULL when all are
-- job_rank_count   BIGINT   ranks of the job
-- is_exact         BOOLEAN  whether the job has just as many; else at least
--
-- The part of exposed collectives in which a rank waits for other ranks. The profiler measures it on the plane of each operator
-- that waits longest (the master plane is idle meanwhile); the rule needs the tasks of operators (Level1). If all ranks of a
-- group are here, the win is at most the time that the rank waits for the last one: all ranks wait equally for the rest, and
-- evening them out does not save it. If the members of a group are not recorded, the ranks that are here count as all
-- (`across.late_rank`). The win is an **upper bound**: it disappears only if all ranks arrive at the same time. If one rank
-- makes the others wait, only [slow rank](#slow-rank) reports the time.
WITH of_type AS (
    SELECT
        profile,
        rank_id,
        group_name,
        type,
        sum(op_count) AS op_count,
        sum(exposed_ns) AS exposed_ns,
        sum(waiting_ns) AS waiting_ns,
        sum(transferring_ns) AS transferring_ns,
        coalesce(sum(least(waiting_ns, critical_ns)) FILTER (waiting_ns IS NOT NULL), 0) AS critical_ns
    FROM communication.exposed
    WHERE direction IS NULL
    GROUP BY ALL
),
-- What all ranks of a group wait alike is not won by evening them out: it begins when the last one has come.
waiting_operator AS (
    SELECT
        of_type.profile,
        of_type.rank_id,
        sum(of_type.op_count)::BIGINT AS op_count,
        sum(of_type.exposed_ns)::BIGINT AS exposed_ns,
        sum(of_type.waiting_ns)::BIGINT AS waiting_ns,
        sum(of_type.transferring_ns)::BIGINT AS transferring_ns,
        sum(of_type.critical_ns)::BIGINT AS critical_ns,
        bool_and(late_rank.waited_ns IS NOT NULL) AS is_compared,
        sum(least(of_type.waiting_ns, coalesce(late_rank.waited_ns, of_type.waiting_ns)))::BIGINT AS late_ns,
        sum(least(of_type.critical_ns, coalesce(late_rank.waited_ns, of_type.critical_ns)))::BIGINT AS win_ns
    FROM of_type
    LEFT JOIN across.late_rank
        ON late_rank.profile = of_type.profile
        AND late_rank.group_name IS NOT DISTINCT FROM of_type.group_name
        AND late_rank.type IS NOT DISTINCT FROM of_type.type
    GROUP BY of_type.profile, of_type.rank_id
)
SELECT
    profile,
    rank_id,
    op_count AS count,
    waiting_ns AS time_ns,
    win_ns,
    exposed_ns,
    waiting_ns / exposed_ns AS waiting_share,
    transferring_ns,
    if(waiting_operator.late_ns < waiting_ns, waiting_operator.late_ns, NULL) AS late_ns,
    critical_ns,
    win_ns < waiting_operator.late_ns AS is_partly_won,
    job.missing_count,
    job.job_rank_count,
    job.is_exact
FROM waiting_operator
LEFT JOIN across.job ON job.missing_count > 0
WHERE waiting_ns > 0
  -- A rank that makes the others wait is found with its cause by slow_rank, where all ranks that may be waited for are here.
  AND NOT (is_compared AND EXISTS (FROM across.blamed_rank))
