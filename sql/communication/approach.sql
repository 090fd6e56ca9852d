-- One row is a collective of the rank, and the activity of the device from the end of the collective before it in its group to
-- its start: computed, communicated in other groups, or idled, and why.
--
-- @unique gap by start_ns: gaps do not overlap
-- @unique gap by end_ns: gaps do not overlap
-- @unique stretch by kind, start_ns: stretches of a kind do not overlap
--
-- kernel_id          BIGINT   a communication kernel of trace.kernel
-- name               VARCHAR  name of the operator; NULL when the profile lost its text
-- type               VARCHAR  type, such as hcom_allReduce_; NULL when not known
-- group_name         VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded
-- step_id            BIGINT   step; NULL outside steps and without steps
-- start_ns           BIGINT   start, Unix ns
-- elapse_ns          BIGINT   its time, ns
-- previous_id        BIGINT   the collective before it in its group, a kernel of trace.kernel; NULL for the first one
-- since_ns           BIGINT   from the end of that one to the start of this one, ns: computing, communication, copies and idle;
--                             below 0 where they overlap; NULL for the first one
-- computing_ns       BIGINT   the part of since_ns with a compute kernel, ns; NULL for the first one
-- communication_ns   BIGINT   the part with communication or copies alone, ns; NULL for the first one
-- idle_ns            BIGINT   the part without any kernel, ns; NULL for the first one
-- idle_cause         VARCHAR  the cause of most of the idle time, as in free.gap_cause; NULL without idle time
-- idle_cause_ns      BIGINT   how much of it, ns; NULL without idle time
WITH operator AS (
    SELECT
        kernel_id,
        name,
        type,
        group_name,
        start_ns,
        elapse_ns
    FROM communication.breakdown
    WHERE kind = 'collective' AND kernel_id IS NOT NULL
),
chained_operator AS (
    SELECT
        *,
        lag(kernel_id) OVER in_group AS previous_id,
        lag(start_ns + elapse_ns) OVER in_group AS since
    FROM operator
    WINDOW in_group AS (PARTITION BY group_name ORDER BY start_ns, kernel_id)
),
stretch AS (
    SELECT
        kind,
        start_ns,
        end_ns,
        sum(end_ns - start_ns) OVER (PARTITION BY kind ORDER BY start_ns ROWS UNBOUNDED PRECEDING) AS up_to_ns
    FROM step.stretch
    WHERE kind IN ('computing', 'busy')
),
moment AS (
    SELECT chained_operator.kernel_id, kind.kind, -1 AS sign, chained_operator.since AS at_ns
    FROM chained_operator
    CROSS JOIN (VALUES ('computing'), ('busy')) AS kind (kind)
    WHERE chained_operator.since < chained_operator.start_ns
    UNION ALL
    SELECT chained_operator.kernel_id, kind.kind, 1, chained_operator.start_ns
    FROM chained_operator
    CROSS JOIN (VALUES ('computing'), ('busy')) AS kind (kind)
    WHERE chained_operator.since < chained_operator.start_ns
),
covered AS (
    SELECT
        moment.kernel_id,
        sum(sign * covered_until(stretch.up_to_ns, stretch.end_ns, moment.at_ns)) FILTER (moment.kind = 'computing')
            AS computing_ns,
        sum(sign * covered_until(stretch.up_to_ns, stretch.end_ns, moment.at_ns)) FILTER (moment.kind = 'busy') AS busy_ns
    FROM moment
    ASOF JOIN stretch ON stretch.kind::VARCHAR = moment.kind AND stretch.start_ns <= moment.at_ns
    GROUP BY moment.kernel_id
),
-- Gaps between the two ends, by their ids, which are in the order of time.
bound AS (
    SELECT chained_operator.kernel_id, first.gap_id AS first_gap_id, last.gap_id AS last_gap_id
    FROM chained_operator
    ASOF JOIN free.gap AS first ON first.start_ns >= chained_operator.since
    ASOF JOIN free.gap AS last ON last.end_ns <= chained_operator.start_ns
    WHERE chained_operator.since < chained_operator.start_ns AND first.gap_id <= last.gap_id
),
cause AS (
    SELECT cause, gap_id, sum(sum(duration_ns)) OVER (PARTITION BY cause ORDER BY gap_id ROWS UNBOUNDED PRECEDING) AS up_to_ns
    FROM free.gap_cause
    GROUP BY cause, gap_id
),
known_cause AS (
    SELECT DISTINCT cause
    FROM free.gap_cause
),
at_bound AS (
    SELECT kernel_id, known_cause.cause, -1 AS sign, first_gap_id - 1 AS gap_id
    FROM bound
    -- All pairs: the causes are few.
    CROSS JOIN known_cause
    UNION ALL
    SELECT kernel_id, known_cause.cause, 1, last_gap_id
    FROM bound
    CROSS JOIN known_cause
),
of_cause AS (
    SELECT at_bound.kernel_id, at_bound.cause, sum(at_bound.sign * cause.up_to_ns)::BIGINT AS duration_ns
    FROM at_bound
    ASOF JOIN cause ON cause.cause = at_bound.cause AND cause.gap_id <= at_bound.gap_id
    GROUP BY at_bound.kernel_id, at_bound.cause
),
main_cause AS (
    FROM of_cause
    WHERE duration_ns > 0
    QUALIFY row_number() OVER (PARTITION BY kernel_id ORDER BY duration_ns DESC, cause) = 1
)
SELECT
    chained_operator.kernel_id,
    chained_operator.name,
    chained_operator.type,
    chained_operator.group_name,
    kernel_step.step_id,
    chained_operator.start_ns,
    chained_operator.elapse_ns,
    chained_operator.previous_id,
    chained_operator.start_ns - chained_operator.since AS since_ns,
    if(chained_operator.since IS NULL, NULL, coalesce(covered.computing_ns, 0))::BIGINT AS computing_ns,
    if(chained_operator.since IS NULL, NULL, coalesce(covered.busy_ns, 0) - coalesce(covered.computing_ns, 0))::BIGINT
        AS communication_ns,
    if(
        chained_operator.since IS NULL,
        NULL,
        greatest(chained_operator.start_ns - chained_operator.since, 0) - coalesce(covered.busy_ns, 0)
    )::BIGINT AS idle_ns,
    main_cause.cause AS idle_cause,
    main_cause.duration_ns AS idle_cause_ns
FROM chained_operator
LEFT JOIN covered USING (kernel_id)
LEFT JOIN main_cause USING (kernel_id)
LEFT JOIN kernels.step AS kernel_step USING (kernel_id)
ORDER BY chained_operator.start_ns, chained_operator.kernel_id
