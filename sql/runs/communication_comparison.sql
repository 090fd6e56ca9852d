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
group_role AS (
    SELECT run, group_role, count(DISTINCT side) = 2 AS is_in_both
    FROM row_of_rank
    GROUP BY run, group_role
),
recording AS (
    SELECT
        run,
        count(DISTINCT side) FILTER (group_role IS NOT NULL) = 2 AS has_roles,
        count(DISTINCT side) FILTER (elements_from IS NOT NULL) = 2 AS has_elements
    FROM row_of_rank
    GROUP BY run
),
compared_row AS (
    SELECT
        row_of_rank.* REPLACE (
            CASE
                WHEN NOT recording.has_roles THEN NULL
                WHEN role.is_in_both OR row_of_rank.is_of_all_ranks IS NOT TRUE THEN row_of_rank.group_role
                ELSE 'all ranks'
            END AS group_role,
            if(recording.has_elements, row_of_rank.elements_from, NULL) AS elements_from
        ),
        compared_unit.sample_id
    FROM row_of_rank
    JOIN recording USING (run)
    LEFT JOIN group_role AS role ON role.run = row_of_rank.run AND role.group_role = row_of_rank.group_role
    LEFT JOIN runs.compared_unit
        ON compared_unit.run = row_of_rank.run AND compared_unit.side = row_of_rank.side
        AND compared_unit.profile = row_of_rank.profile AND compared_unit.unit_id = row_of_rank.unit_id
    WHERE row_of_rank.unit_id IS NULL OR compared_unit.unit_id IS NOT NULL
),
operator_of_sample AS (
    SELECT
        operator.run,
        operator.side,
        operator.operation,
        operator.kind,
        operator.group_role,
        operator.elements_from,
        min(operator.group_size) AS least_group_size,
        max(operator.group_size) AS most_group_size,
        sum(operator.op_count) AS work_count,
        sum(operator.elapse_ns) AS duration_ns,
        sum(operator.transit_ns)::BIGINT AS transit_ns,
        sum(operator.wait_ns)::BIGINT AS wait_ns,
        sum(operator.size_bytes)::BIGINT AS size_bytes,
        sum(operator.transfer_ns)::BIGINT AS transfer_ns,
        sum(operator.elapse_ns)::HUGEINT // min(sample.unit_count) AS sample_ns
    FROM compared_row AS operator
    LEFT JOIN runs.compared_sample AS sample
        ON sample.run = operator.run AND sample.side = operator.side AND sample.sample_id = operator.sample_id
    GROUP BY
        operator.run,
        operator.side,
        operator.operation,
        operator.kind,
        operator.group_role,
        operator.elements_from,
        operator.sample_id
),
comparison AS (FROM runs.comparison)
SELECT
    run,
    unnest(key),
    change,
    if(more.base_least_size = more.base_most_size, more.base_least_size, NULL) AS base_group_size,
    if(more.new_least_size = more.new_most_size, more.new_least_size, NULL) AS new_group_size,
    coalesce(base_count, 0) / base_unit_count AS base_op_count,
    coalesce(new_count, 0) / new_unit_count AS new_op_count,
    more.base_transit_ns / base_unit_count AS base_transit_ns,
    more.new_transit_ns / new_unit_count AS new_transit_ns,
    more.base_wait_ns / base_unit_count AS base_wait_ns,
    more.new_wait_ns / new_unit_count AS new_wait_ns,
    more.base_bandwidth_gb_s,
    more.new_bandwidth_gb_s,
    unnest(times)
FROM compared_times(
    operator_of_sample,
    comparison,
    {'operation': operation, 'kind': kind, 'group_role': group_role, 'elements_from': elements_from},
    {
        'base_least_size': min(least_group_size) FILTER (side = 'base'),
        'base_most_size': max(most_group_size) FILTER (side = 'base'),
        'new_least_size': min(least_group_size) FILTER (side = 'new'),
        'new_most_size': max(most_group_size) FILTER (side = 'new'),
        'base_transit_ns': sum(transit_ns) FILTER (side = 'base'),
        'new_transit_ns': sum(transit_ns) FILTER (side = 'new'),
        'base_wait_ns': sum(wait_ns) FILTER (side = 'base'),
        'new_wait_ns': sum(wait_ns) FILTER (side = 'new'),
        'base_bandwidth_gb_s':
            sum(size_bytes) FILTER (side = 'base') / nullif(sum(transfer_ns) FILTER (side = 'base'), 0),
        'new_bandwidth_gb_s': sum(size_bytes) FILTER (side = 'new') / nullif(sum(transfer_ns) FILTER (side = 'new'), 0)
    }
)
ORDER BY run, abs(times.difference_ns) DESC, key.operation, key.kind, key.group_role, key.elements_from
