-- One row is a collective of a rank with its number, which is the same on all ranks that took part. Operators of a group are
-- paired in their order within the step, where they are of as many, of the same types and sizes, and can have run at the same
-- time: the clocks of two ranks may lie apart, but no rank leaves a collective before all have come. Where ranks recorded
-- different ones, equal ones that end together are paired, and the others keep the reason. Names of operators do not help: they
-- end in an ordinal that also counts operators before the recording. Sends and receives are paired in across.p2p.
--
-- profile      VARCHAR  the folder, the identity of the rank
-- rank_id      INTEGER  the rank; NULL when the files name none
-- kernel_id    BIGINT   a communication kernel of trace.kernel; NULL when only communication.json or analysis.db has it
-- name         VARCHAR  name of the operator; NULL when the profile lost its text
-- type         VARCHAR  type, such as hcom_allReduce_; NULL when not known
-- group_name   VARCHAR  the group of ranks, that is, the communicator, as this rank names it; NULL when not recorded
-- known_group  VARCHAR  the group by a name that all ranks share: its ranks, where they are recorded; NULL when not recorded
-- step_id      BIGINT   step; NULL outside steps and without steps
-- paired_step  BIGINT   the step within which number counts; NULL where it counts in the recording
-- number       BIGINT   its number in its group in the step, from 1, the same on all ranks
-- rank_count   BIGINT   ranks here that have it, with this one
-- start_ns     BIGINT   start, Unix ns; NULL when not reported
-- elapse_ns    BIGINT   its time, ns
-- wait_ns      BIGINT   waits for other ranks, waiting_ns of communication.breakdown, ns; NULL when not known
-- earliest_ns  BIGINT   by how much the clock of the rank is ahead of that of the first rank of the group, ns: at least this,
--                       else one of them would leave a collective before the other one comes; NULL for the first rank itself,
--                       and where nothing is compared
-- latest_ns    BIGINT   the same at most, ns; below earliest_ns by more than clocks drift, the pairs are wrong
-- reason       VARCHAR  why it is paired with none: no rank of its group, none in its step, or none that does the same; NULL
--                       when it is paired
WITH group_ranks AS (
    SELECT profile, group_name, concat_ws(': ', min(label), string_agg(global_rank, ', ' ORDER BY position)) AS ranks
    FROM communication.member
    GROUP BY profile, group_name
),
own_group AS (
    SELECT profile, group_name, min(group_code) AS code
    FROM communication.call
    WHERE kind = 'collective'
    GROUP BY profile, group_name
),
-- Older text exports only number the groups, and each rank numbers its own.
named_group AS (
    SELECT
        own_group.*,
        group_ranks.ranks,
        if(regexp_full_match(group_name, '\d{1,4}'), NULL, group_name) AS shared_name
    FROM own_group
    LEFT JOIN group_ranks USING (profile, group_name)
),
-- What one rank knows of a group holds for all that give it this name, unless they contradict each other.
described_group AS (
    SELECT
        *,
        CASE
            WHEN shared_name IS NULL THEN ranks
            WHEN count(DISTINCT ranks) OVER (PARTITION BY shared_name) < 2 THEN max(ranks) OVER (PARTITION BY shared_name)
            ELSE ranks
        END AS known_ranks
    FROM named_group
),
keyed_group AS (
    SELECT
        *,
        -- Two groups of the same ranks and purpose are told apart by their names.
        if(
            count(*) OVER (PARTITION BY profile, known_ranks) > 1,
            coalesce(shared_name, code, group_name),
            coalesce(known_ranks, shared_name, code, group_name)
        ) AS key
    FROM described_group
),
counted_group AS (
    SELECT *, count(*) OVER (PARTITION BY key) AS rank_count
    FROM keyed_group
),
-- A group whose name only one rank has, and that others know by its digits under one other name, is that one.
other_name AS (
    SELECT code, coalesce(min(key) FILTER (ranks IS NOT NULL), min(key)) AS key, list(profile) AS profiles
    FROM counted_group
    WHERE code IS NOT NULL AND (rank_count > 1 OR (SELECT count(DISTINCT profile) FROM own_group) = 2)
    GROUP BY code
    HAVING count(DISTINCT key) = 1 OR (count(*) = 2 AND count(DISTINCT profile) = 2)
),
known_group AS (
    SELECT
        counted_group.profile,
        counted_group.group_name,
        if(
            counted_group.rank_count = 1
            AND counted_group.ranks IS NULL
            AND (NOT list_contains(other_name.profiles, counted_group.profile) OR len(other_name.profiles) = 2),
            coalesce(other_name.key, counted_group.key),
            counted_group.key
        ) AS known_group
    FROM counted_group
    LEFT JOIN other_name USING (code)
),
operator AS (
    SELECT
        call.*,
        known_group.known_group,
        known_group.known_group AS chain,
        call.start_ns + call.elapse_ns AS end_ns
    FROM communication.call
    JOIN known_group ON known_group.profile = call.profile AND known_group.group_name IS NOT DISTINCT FROM call.group_name
    WHERE call.kind = 'collective'
),
-- A step counts where all ranks of the group have steps, a size where all have sizes.
described_operator AS (
    SELECT
        *,
        if(bool_and(has_steps) OVER (PARTITION BY chain), step_id, NULL) AS paired_step,
        if(bool_and(elements IS NOT NULL) OVER alike, elements, NULL) AS size,
        if(bool_and(data_type IS NOT NULL) OVER alike, concat_ws(' ', operation, data_type), operation) AS does
    FROM (SELECT *, bool_or(step_id IS NOT NULL) OVER (PARTITION BY profile, chain) AS has_steps FROM operator)
    WINDOW alike AS (PARTITION BY chain, operation)
),
placed_call AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY profile, chain, paired_step ORDER BY start_ns, length(name), name, kernel_id
        ) AS place
    FROM described_operator
),
sequence AS (
    SELECT
        profile,
        rank_id,
        chain,
        paired_step,
        count(*) AS op_count,
        count(start_ns) = count(*) AS has_times,
        bit_xor(hash(place, does, size)) AS signature
    FROM placed_call
    GROUP BY profile, rank_id, chain, paired_step
),
compared_call AS (
    SELECT
        *,
        first_value(profile) OVER longest AS first_profile,
        first_value(signature) OVER longest AS first_signature,
        first_value(op_count) OVER longest AS first_op_count,
        first_value(has_times) OVER longest AS first_has_times,
        count(*) OVER (PARTITION BY chain, paired_step) AS profile_count,
        count(DISTINCT profile) OVER (PARTITION BY chain) AS group_count
    FROM sequence
    WINDOW longest AS (
        PARTITION BY chain, paired_step ORDER BY op_count DESC, rank_id, profile ROWS UNBOUNDED PRECEDING
    )
),
alike AS (
    SELECT
        *,
        profile = first_profile AS is_first,
        signature = first_signature AND op_count = first_op_count AS is_alike
    FROM compared_call
),
-- Of a rank that did the same in this order: whether all of it can have run together.
met AS (
    SELECT
        alike.profile,
        alike.chain,
        alike.paired_step,
        max(placed_call.start_ns - first.end_ns) FILTER (placed_call.is_together) AS earliest_ns,
        min(placed_call.end_ns - first.start_ns) FILTER (placed_call.is_together) AS latest_ns,
        max(placed_call.end_ns) - min(placed_call.start_ns) AS span_ns
    FROM alike
    JOIN placed_call
        ON placed_call.profile = alike.profile
        AND placed_call.chain IS NOT DISTINCT FROM alike.chain
        AND placed_call.paired_step IS NOT DISTINCT FROM alike.paired_step
    JOIN placed_call AS first
        ON first.profile = alike.first_profile
        AND first.chain IS NOT DISTINCT FROM alike.chain
        AND first.paired_step IS NOT DISTINCT FROM alike.paired_step
        AND first.place = placed_call.place
    WHERE alike.is_alike AND NOT alike.is_first
    GROUP BY alike.profile, alike.chain, alike.paired_step
),
-- How far two clocks lie apart, as the collectives say that need no more than their order.
clock AS (
    SELECT alike.first_profile, alike.profile, max(met.earliest_ns) AS earliest_ns, min(met.latest_ns) AS latest_ns
    FROM met
    JOIN alike
        ON alike.profile = met.profile
        AND alike.chain IS NOT DISTINCT FROM met.chain
        AND alike.paired_step IS NOT DISTINCT FROM met.paired_step
    WHERE met.earliest_ns <= met.latest_ns
    GROUP BY alike.first_profile, alike.profile
),
-- Ranks that did something else, or not together: these are paired one by one.
call_and_other AS (
    SELECT alike.*, bool_or(NOT is_first AND is_other) OVER (PARTITION BY chain, paired_step) AS has_others
    FROM (
        SELECT
            alike.*,
            NOT alike.is_alike
                -- Clocks drift apart. Within a step, order says more than times.
                OR coalesce(
                    met.earliest_ns - met.latest_ns
                        > if(alike.paired_step IS NULL, 20000 + met.span_ns // 1000, met.span_ns // 10),
                    false
                ) AS is_other
        FROM alike
        LEFT JOIN met
            ON met.profile = alike.profile
            AND met.chain IS NOT DISTINCT FROM alike.chain
            AND met.paired_step IS NOT DISTINCT FROM alike.paired_step
        WHERE alike.has_times AND alike.first_has_times
    ) AS alike
),
calls_of_chain AS (
    SELECT
        call_and_other.profile,
        call_and_other.rank_id,
        call_and_other.chain,
        call_and_other.paired_step,
        call_and_other.is_first,
        {
            'operations': list(placed_call.does ORDER BY placed_call.place),
            'sizes': list(placed_call.size ORDER BY placed_call.place),
            'are_together': list(placed_call.is_together ORDER BY placed_call.place),
            'starts': list(placed_call.start_ns ORDER BY placed_call.place),
            'ends': list(placed_call.end_ns ORDER BY placed_call.place),
            'clock': [min(clock.earliest_ns), min(clock.latest_ns)]
        } AS calls
    FROM call_and_other
    LEFT JOIN clock ON clock.first_profile = call_and_other.first_profile AND clock.profile = call_and_other.profile
    JOIN placed_call
        ON placed_call.profile = call_and_other.profile
        AND placed_call.chain IS NOT DISTINCT FROM call_and_other.chain
        AND placed_call.paired_step IS NOT DISTINCT FROM call_and_other.paired_step
    WHERE call_and_other.has_others AND (call_and_other.is_first OR call_and_other.is_other)
    GROUP BY
        call_and_other.profile,
        call_and_other.rank_id,
        call_and_other.chain,
        call_and_other.paired_step,
        call_and_other.is_first
),
answered AS (
    SELECT
        chain,
        paired_step,
        list(profile ORDER BY NOT is_first, rank_id, profile) AS profiles,
        paired_calls(list(calls ORDER BY NOT is_first, rank_id, profile)) AS numbers
    FROM calls_of_chain
    GROUP BY chain, paired_step
),
answer_of_rank AS (
    SELECT chain, paired_step, unnest(profiles) AS profile, unnest(numbers) AS numbers
    FROM answered
),
answer AS (
    SELECT
        chain, paired_step, profile, unnest(numbers) AS number, generate_subscripts(numbers, 1) AS place
    FROM answer_of_rank
),
numbered_call AS (
    SELECT
        placed_call.*,
        coalesce(answer.number, if(alike.is_alike, placed_call.place, NULL))::BIGINT AS number,
        alike.profile_count,
        alike.group_count
    FROM placed_call
    JOIN alike
        ON alike.profile = placed_call.profile
        AND alike.chain IS NOT DISTINCT FROM placed_call.chain
        AND alike.paired_step IS NOT DISTINCT FROM placed_call.paired_step
    LEFT JOIN answer
        ON answer.profile = placed_call.profile
        AND answer.chain IS NOT DISTINCT FROM placed_call.chain
        AND answer.paired_step IS NOT DISTINCT FROM placed_call.paired_step
        AND answer.place = placed_call.place
),
met_first AS (
    SELECT
        *,
        if(number IS NULL, 1, count(*) OVER together) AS rank_count,
        first_value(profile) OVER in_order AS of_profile,
        first_value(start_ns) OVER in_order AS first_start_ns,
        first_value(end_ns) OVER in_order AS first_end_ns,
        min((rank_id, profile)) OVER (PARTITION BY chain) AS first_rank
    FROM numbered_call
    WINDOW
        together AS (PARTITION BY chain, paired_step, number),
        in_order AS (PARTITION BY chain, paired_step, number ORDER BY rank_id, profile ROWS UNBOUNDED PRECEDING)
),
bounded_call AS (
    SELECT
        *,
        is_together AND number IS NOT NULL AND of_profile = first_rank[2] AND profile <> of_profile AS is_bound,
        max(start_ns - first_end_ns) FILTER (is_bound) OVER of_rank AS earliest_ns,
        min(end_ns - first_start_ns) FILTER (is_bound) OVER of_rank AS latest_ns
    FROM met_first
    WINDOW of_rank AS (PARTITION BY profile, chain)
)
SELECT
    profile,
    rank_id,
    kernel_id,
    name,
    type,
    group_name,
    known_group,
    step_id,
    paired_step,
    number,
    rank_count,
    start_ns,
    elapse_ns,
    wait_ns,
    earliest_ns,
    latest_ns,
    CASE
        WHEN rank_count > 1 THEN NULL
        WHEN group_count = 1 THEN 'no other rank of its group is here'
        WHEN profile_count = 1 THEN 'no other rank of its group has its step here'
        WHEN number IS NULL THEN 'ranks have other collectives in this group, and no times by which to compare them'
        ELSE 'no other rank of its group has it here'
    END AS reason
FROM bounded_call
ORDER BY known_group, paired_step, number, rank_id, profile, start_ns
