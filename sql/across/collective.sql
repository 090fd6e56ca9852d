-- One row is a collective in which a rank waited for another one, with the rank that came last, and what kept this one: the
-- collective that cost most waiting first. All ranks leave a collective together, so the rank that spends the least time in it
-- came last; and since they left the one before it together too, the extra time of the last rank since then, compared with the
-- first one, is the reason. The clocks of two ranks are never compared. Waits below 5 % of the longest time in it have no row.
--
-- group_name              VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- name                    VARCHAR  name of the operator on the rank that came last; NULL when the profile lost its text
-- type                    VARCHAR  type, such as hcom_allReduce_; NULL when not known
-- number                  BIGINT   the how-manieth of its group in the step it is, from 1, as in across.paired_call
-- step_id                 BIGINT   step on the rank that came last; NULL outside steps and without steps
-- rank_count              BIGINT   ranks here that have it
-- first_profile           VARCHAR  the folder of the rank that came first
-- first_rank_id           INTEGER  this rank; NULL when the files name none
-- last_profile            VARCHAR  the folder of the rank that came last
-- last_rank_id            INTEGER  this rank; NULL when the files name none
-- first_elapse_ns         BIGINT   time of the rank that came first in it, ns
-- last_elapse_ns          BIGINT   time of the rank that came last in it, ns
-- waited_ns               BIGINT   how long the first waited for the last, ns: the difference
-- all_waited_ns           BIGINT   how long all ranks waited for the last, ns
-- more_since_ns           BIGINT   how much longer the last took since the collective before it than the first, ns: the three
--                                  below; about waited_ns where they left that one together; NULL when that is another one on
--                                  the two ranks, or there is none
-- more_computing_ns       BIGINT   the part of it in which the last computed more, ns; below 0 where it computed less; NULL as
--                                  above
-- more_communication_ns   BIGINT   the part with other communication, or copies, alone, ns; NULL as above
-- more_idle_ns            BIGINT   the part without any kernel, ns; NULL as above
-- cause                   VARCHAR  the part that explains at least half of waited_ns: computing, host (the device had nothing
--                                  to do), or other communication; several if none of them does; NULL when not known
-- idle_cause              VARCHAR  where the host is the cause, what it did on the last rank most of the time, as in free-time;
--                                  NULL else
-- reason                  VARCHAR  why the cause is not known; NULL when it is
WITH operator AS (
    SELECT
        approach.*,
        paired_call.known_group,
        paired_call.paired_step,
        paired_call.number,
        paired_call.rank_count,
        previous.paired_step AS previous_step,
        previous.number AS previous_number,
        max(approach.elapse_ns) OVER together - approach.elapse_ns AS later_ns,
        row_number() OVER (together ORDER BY approach.elapse_ns DESC, approach.rank_id, approach.profile) AS place,
        row_number() OVER (together ORDER BY approach.elapse_ns, approach.rank_id, approach.profile) AS place_from_end
    FROM communication.approach
    JOIN across.paired_call
        ON paired_call.profile = approach.profile AND paired_call.kernel_id = approach.kernel_id AND paired_call.rank_count > 1
    LEFT JOIN across.paired_call AS previous
        ON previous.profile = approach.profile AND previous.kernel_id = approach.previous_id
    WINDOW together AS (PARTITION BY paired_call.known_group, paired_call.paired_step, paired_call.number)
),
all_waits AS (
    SELECT known_group, paired_step, number, count(*) AS rank_count, sum(elapse_ns - least_ns)::BIGINT AS all_waited_ns
    FROM (SELECT *, min(elapse_ns) OVER (PARTITION BY known_group, paired_step, number) AS least_ns FROM operator)
    GROUP BY known_group, paired_step, number
),
compared_collective AS (
    SELECT
        last.group_name,
        last.name,
        last.type,
        last.number,
        last.step_id,
        all_waits.rank_count,
        first.profile AS first_profile,
        first.rank_id AS first_rank_id,
        last.profile AS last_profile,
        last.rank_id AS last_rank_id,
        first.elapse_ns AS first_elapse_ns,
        last.elapse_ns AS last_elapse_ns,
        first.elapse_ns - last.elapse_ns AS waited_ns,
        all_waits.all_waited_ns,
        coalesce(
            last.previous_step IS NOT DISTINCT FROM first.previous_step AND last.previous_number = first.previous_number, false
        ) AS is_chained,
        last.previous_id IS NULL OR first.previous_id IS NULL AS is_first,
        if(is_chained, last.computing_ns - first.computing_ns, NULL) AS more_computing_ns,
        if(is_chained, last.communication_ns - first.communication_ns, NULL) AS more_communication_ns,
        if(is_chained, last.idle_ns - first.idle_ns, NULL) AS more_idle_ns,
        last.idle_cause
    FROM operator AS last
    JOIN operator AS first
        ON first.known_group IS NOT DISTINCT FROM last.known_group
        AND first.paired_step IS NOT DISTINCT FROM last.paired_step
        AND first.number = last.number
        AND first.place = 1
    JOIN all_waits
        ON all_waits.known_group IS NOT DISTINCT FROM last.known_group
        AND all_waits.paired_step IS NOT DISTINCT FROM last.paired_step
        AND all_waits.number = last.number
    WHERE last.place_from_end = 1 AND all_waits.rank_count > 1
),
explained_collective AS (
    SELECT
        *,
        coalesce(
            abs(more_computing_ns + more_communication_ns + more_idle_ns - waited_ns) <= 0.5 * waited_ns, false
        ) AS is_together,
        CASE
            WHEN NOT is_together THEN NULL
            WHEN more_computing_ns >= 0.5 * waited_ns THEN 'computing'
            WHEN more_idle_ns >= 0.5 * waited_ns THEN 'host'
            WHEN more_communication_ns >= 0.5 * waited_ns THEN 'other communication'
            ELSE 'several'
        END AS cause
    FROM compared_collective
    WHERE waited_ns >= 0.05 * first_elapse_ns AND waited_ns > 0
)
SELECT
    group_name,
    name,
    type,
    number,
    step_id,
    rank_count,
    first_profile,
    first_rank_id,
    last_profile,
    last_rank_id,
    first_elapse_ns,
    last_elapse_ns,
    waited_ns,
    all_waited_ns,
    more_computing_ns + more_communication_ns + more_idle_ns AS more_since_ns,
    more_computing_ns,
    more_communication_ns,
    more_idle_ns,
    cause,
    if(cause = 'host', idle_cause, NULL) AS idle_cause,
    CASE
        WHEN is_together THEN NULL
        WHEN is_chained THEN 'the ranks did not leave the collective before it in its group together'
        WHEN is_first THEN 'it is the first collective of its group here: nothing says when the ranks were together before'
        ELSE 'the collective before it in its group is another one on the two ranks'
    END AS reason
FROM explained_collective
ORDER BY all_waited_ns DESC, group_name, step_id, number, name
