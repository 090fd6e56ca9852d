-- One row is communication of a step and how much of it computing covers: all operators of the step, those of all groups with
-- one purpose, or those of one group and type. Time in which operators of a row overlap counts once. Without steps, the rows
-- are those of the whole profile; with steps, operators of no step have rows of their own.
--
-- @guard trace.communication
-- @unique computed by start_ns, step_key: step.computed has a row a step and moment
--
-- step_id            BIGINT   number of the step; NULL for the whole profile and for operators of no step
-- level              ENUM('step', 'label', 'operator')  what the row is about: all operators of the step, those of the groups
--                             with one label, or those of one group and type
-- group_label        VARCHAR  purpose of the group, such as tp, dp or default_pg; NULL when not recorded, and for a step
-- group_name         VARCHAR  the group of ranks, that is, the communicator; NULL when not recorded, and at other levels
-- type               VARCHAR  type, such as hcom_allReduce_; NULL when not known, and at other levels
-- op_count           BIGINT   operators; one that runs in the time of several steps counts where it ends
-- communication_ns   BIGINT   time with such an operator, ns; that of a step is communication_ns of step.time
-- overlapped_ns      BIGINT   time with such an operator and a compute kernel of the step, ns; that of a step is overlapped_ns
--                             of step.time
-- not_overlapped_ns  BIGINT   the rest of communication_ns, ns
-- overlapped_share   DOUBLE   overlapped_ns / communication_ns; NULL when that is 0
-- counted_once_ns    BIGINT   part of not_overlapped_ns in which no operator of the step ran that had begun earlier, ns; the
--                             rows of each level add up to not_overlapped_ns of the step
WITH member AS (
    SELECT group_name, min(label) AS label
    FROM communication.member
    GROUP BY group_name
),
operator AS (
    SELECT
        kernel_time.step_id,
        -- An ASOF join compares no NULL.
        coalesce(kernel_time.step_id, -9223372036854775808) AS step_key,
        kernel_time.kernel_id,
        kernel_time.is_last,
        kernel_time.start_ns,
        kernel_time.end_ns,
        member.label AS group_label,
        string.text AS group_name,
        communication.operator_type AS type
    FROM step.kernel_time
    LEFT JOIN trace.communication USING (kernel_id)
    LEFT JOIN trace.string ON string.text_id = communication.group_name_id
    LEFT JOIN member ON member.group_name = string.text
    WHERE kernel_time.kind = 'communication'
      AND (getvariable('step_id') IS NULL OR kernel_time.step_id = getvariable('step_id'))
),
leveled AS (
    SELECT
        step_id,
        step_key,
        'step' AS level,
        NULL AS group_label,
        NULL AS group_name,
        NULL AS type,
        kernel_id,
        is_last,
        start_ns,
        end_ns
    FROM operator
    UNION ALL
    SELECT step_id, step_key, 'label', group_label, NULL, NULL, kernel_id, is_last, start_ns, end_ns
    FROM operator
    WHERE EXISTS (FROM operator WHERE group_label IS NOT NULL)
    UNION ALL
    SELECT step_id, step_key, 'operator', group_label, group_name, type, kernel_id, is_last, start_ns, end_ns
    FROM operator
),
-- The part of each operator that no earlier one of its row covers.
piece AS (
    SELECT * EXCLUDE (before_ns, added_ns, reached_ns)
    FROM added(leveled, (step_id, level, group_label, group_name, type), kernel_id)
),
moment AS (
    SELECT DISTINCT step_key, unnest([from_ns, end_ns]) AS at_ns
    FROM piece
),
computed_moment AS (
    SELECT moment.step_key, moment.at_ns, covered_until(covered.covered_ns, covered.reached_ns, moment.at_ns) AS computing_ns
    FROM moment
    ASOF LEFT JOIN step.computed AS covered ON covered.step_key = moment.step_key AND covered.start_ns <= moment.at_ns
),
measured_piece AS (
    SELECT
        piece.*,
        greatest(0, end_ns - piece.from_ns) AS piece_ns,
        greatest(0, at_end.computing_ns - at_from.computing_ns) AS covered_ns,
        exposed_operator.exposed_ns AS once_ns
    FROM piece
    JOIN communication.exposed_operator
        ON exposed_operator.kernel_id = piece.kernel_id AND exposed_operator.step_id IS NOT DISTINCT FROM piece.step_id
    JOIN computed_moment AS at_end ON at_end.step_key = piece.step_key AND at_end.at_ns = piece.end_ns
    JOIN computed_moment AS at_from ON at_from.step_key = at_end.step_key AND at_from.at_ns = piece.from_ns
),
group_of_step AS (
    SELECT
        step_id,
        level,
        group_label,
        group_name,
        type,
        count(*) FILTER (is_last) AS op_count,
        sum(piece_ns)::BIGINT AS communication_ns,
        sum(covered_ns)::BIGINT AS overlapped_ns,
        sum(once_ns)::BIGINT AS counted_once_ns
    FROM measured_piece
    GROUP BY step_id, level, group_label, group_name, type
)
SELECT
    step_id,
    level::ENUM('step', 'label', 'operator') AS level,
    group_label,
    group_name,
    type,
    op_count,
    communication_ns,
    overlapped_ns,
    communication_ns - overlapped_ns AS not_overlapped_ns,
    overlapped_ns / nullif(communication_ns, 0) AS overlapped_share,
    counted_once_ns
FROM group_of_step
ORDER BY step_id NULLS LAST, level, not_overlapped_ns DESC, group_label, group_name, type
