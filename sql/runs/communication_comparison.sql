-- One row is the communication operators of one type, group role and size in the base and in the new run, those whose time
-- changed most first. The sums of all rows are the time of all operators.
--
-- @sum base_ns, new_ns, difference_ns, base_sum_ns, new_sum_ns, base_op_count, new_op_count
--
-- run                  VARCHAR  the run that is compared with the base
-- operation            VARCHAR  operation of the operators, in lower case, such as allreduce; NULL when not known
-- kind                 VARCHAR  p2p (send and receive) or collective
-- group_role           VARCHAR  purpose of the group of ranks, such as dp or tp; NULL when not recorded in both runs
-- elements_from        BIGINT   how many elements the operators were called with: this many, or more up to twice as many; NULL
--                               when not recorded in both runs
-- change               VARCHAR  added, removed, more often, less often, slower, faster; noise where only the time changed, by
--                               no more than it varies anyway; NULL where nothing changed
-- base_group_size      BIGINT   ranks of the group in the base; NULL when not recorded, or of several sizes
-- new_group_size       BIGINT   ranks of the group in the new run, likewise
-- base_op_count        DOUBLE   operators in the base per unit
-- new_op_count         DOUBLE   operators in the new run per unit
-- base_transit_ns      DOUBLE   transfers over a link in the base per unit, ns; NULL when known for none
-- new_transit_ns       DOUBLE   the same in the new run
-- base_wait_ns         DOUBLE   waits for other ranks in the base per unit, ns; NULL when known for none
-- new_wait_ns          DOUBLE   the same in the new run
-- base_bandwidth_gb_s  DOUBLE   bytes by the time of their transfers in the base, GB/s; NULL when not known
-- new_bandwidth_gb_s   DOUBLE   the same in the new run
-- @columns base_ns to new_sum_ns as in runs.op_comparison
WITH row_of_rank AS (
    SELECT rank.run, rank.side, communication.* EXCLUDE (run)
    FROM compare.communication_unit AS communication
    JOIN runs.compared_rank AS rank ON rank.profile = communication.profile
    WHERE rank.pair IS NOT NULL
),
-- Frameworks give the group of all ranks different labels.
of_role AS (
    SELECT run, group_role, count(DISTINCT side) = 2 AS is_in_both
    FROM row_of_rank
    GROUP BY run, group_role
),
known AS (
    SELECT
        run,
        count(DISTINCT side) FILTER (group_role IS NOT NULL) = 2 AS has_roles,
        count(DISTINCT side) FILTER (elements_from IS NOT NULL) = 2 AS has_elements
    FROM row_of_rank
    GROUP BY run
),
chosen AS (
    SELECT
        row_of_rank.* REPLACE (
            CASE
                WHEN NOT known.has_roles THEN NULL
                WHEN of_role.is_in_both OR row_of_rank.is_of_all_ranks IS NOT TRUE THEN row_of_rank.group_role
                ELSE 'all ranks'
            END AS group_role,
            if(known.has_elements, row_of_rank.elements_from, NULL) AS elements_from
        ),
        compared_unit.sample_id
    FROM row_of_rank
    JOIN known USING (run)
    LEFT JOIN of_role ON of_role.run = row_of_rank.run AND of_role.group_role = row_of_rank.group_role
    LEFT JOIN runs.compared_unit
        ON compared_unit.run = row_of_rank.run AND compared_unit.side = row_of_rank.side
        AND compared_unit.profile = row_of_rank.profile AND compared_unit.unit_id = row_of_rank.unit_id
    WHERE row_of_rank.unit_id IS NULL OR compared_unit.unit_id IS NOT NULL
),
of_sample AS (
    SELECT
        chosen.run,
        chosen.side,
        chosen.operation,
        chosen.kind,
        chosen.group_role,
        chosen.elements_from,
        min(chosen.group_size) AS least_group_size,
        max(chosen.group_size) AS most_group_size,
        sum(chosen.op_count)::BIGINT AS op_count,
        sum(chosen.elapse_ns)::BIGINT AS elapse_ns,
        sum(chosen.transit_ns)::BIGINT AS transit_ns,
        sum(chosen.wait_ns)::BIGINT AS wait_ns,
        sum(chosen.size_bytes)::BIGINT AS size_bytes,
        sum(chosen.transfer_ns)::BIGINT AS transfer_ns,
        sum(chosen.elapse_ns)::HUGEINT // min(sample.unit_count) AS sample_ns
    FROM chosen
    LEFT JOIN runs.compared_sample AS sample
        ON sample.run = chosen.run AND sample.side = chosen.side AND sample.sample_id = chosen.sample_id
    GROUP BY
        chosen.run,
        chosen.side,
        chosen.operation,
        chosen.kind,
        chosen.group_role,
        chosen.elements_from,
        chosen.sample_id
),
figure AS (
    SELECT
        run,
        operation,
        kind,
        group_role,
        elements_from,
        min(least_group_size) FILTER (side = 'base') AS base_least_size,
        max(most_group_size) FILTER (side = 'base') AS base_most_size,
        min(least_group_size) FILTER (side = 'new') AS new_least_size,
        max(most_group_size) FILTER (side = 'new') AS new_most_size,
        coalesce(sum(op_count) FILTER (side = 'base'), 0)::BIGINT AS base_op_count,
        coalesce(sum(op_count) FILTER (side = 'new'), 0)::BIGINT AS new_op_count,
        sum(transit_ns) FILTER (side = 'base') AS base_transit_ns,
        sum(transit_ns) FILTER (side = 'new') AS new_transit_ns,
        sum(wait_ns) FILTER (side = 'base') AS base_wait_ns,
        sum(wait_ns) FILTER (side = 'new') AS new_wait_ns,
        sum(size_bytes) FILTER (side = 'base') / nullif(sum(transfer_ns) FILTER (side = 'base'), 0) AS base_bandwidth_gb_s,
        sum(size_bytes) FILTER (side = 'new') / nullif(sum(transfer_ns) FILTER (side = 'new'), 0) AS new_bandwidth_gb_s,
        coalesce(sum(elapse_ns) FILTER (side = 'base'), 0)::BIGINT AS base_sum_ns,
        coalesce(sum(elapse_ns) FILTER (side = 'new'), 0)::BIGINT AS new_sum_ns,
        samples_of_sides(side, sample_ns) AS samples
    FROM of_sample
    GROUP BY run, operation, kind, group_role, elements_from
),
compared AS (
    SELECT
        figure.*,
        comparison.base_unit_count,
        comparison.new_unit_count,
        comparison.noise_reason,
        figure.base_sum_ns / comparison.base_unit_count AS base_ns,
        figure.new_sum_ns / comparison.new_unit_count AS new_ns,
        unnest(variation_of_sides(figure.samples, comparison.base_sample_count, comparison.new_sample_count))
    FROM figure
    JOIN runs.comparison USING (run)
),
limits AS (
    SELECT
        run,
        significance_limit(p_value) AS p_limit,
        sum(new_sum_ns) / min(new_unit_count) - sum(base_sum_ns) / min(base_unit_count) AS whole_difference_ns
    FROM compared
    GROUP BY run
),
judged AS (
    SELECT *, p_value > coalesce(p_limit, -1) AS is_noise
    FROM compared
    JOIN limits USING (run)
)
SELECT
    run,
    operation,
    kind,
    group_role,
    elements_from,
    change_of(
        judged.base_op_count,
        judged.new_op_count,
        base_unit_count,
        new_unit_count,
        base_ns,
        new_ns,
        is_noise
    ) AS change,
    if(base_least_size = base_most_size, base_least_size, NULL) AS base_group_size,
    if(new_least_size = new_most_size, new_least_size, NULL) AS new_group_size,
    base_op_count / base_unit_count AS base_op_count,
    new_op_count / new_unit_count AS new_op_count,
    base_transit_ns / base_unit_count AS base_transit_ns,
    new_transit_ns / new_unit_count AS new_transit_ns,
    base_wait_ns / base_unit_count AS base_wait_ns,
    new_wait_ns / new_unit_count AS new_wait_ns,
    base_bandwidth_gb_s,
    new_bandwidth_gb_s,
    base_ns,
    new_ns,
    new_ns - base_ns AS difference_ns,
    new_ns / nullif(base_ns, 0) AS ratio,
    (new_ns - base_ns) / nullif(whole_difference_ns, 0) AS difference_share,
    base_sd_ns,
    new_sd_ns,
    p_value,
    is_noise,
    if(is_noise IS NULL, noise_reason, NULL) AS reason,
    base_sum_ns,
    new_sum_ns
FROM judged
ORDER BY run, abs(new_ns - base_ns) DESC, operation, kind, group_role, elements_from
