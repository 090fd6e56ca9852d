-- One row is what casts that are not undone take in the modules of a rank.
--
-- @title Casts take much of the time of computing
-- @evidence {count|1 cast takes|casts take} {time_ns}, {device_share} of computing[, {most_ns} of it in {most_module}][; from
--     {from_type} to {to_type} alone {most_of_types_ns}]{unless_critical(time_ns, win_ns)}
-- @kind upper bound
-- @remedy Keep a tensor in one data type from op to op: weights in the type in which they are used (model.to(torch.bfloat16)
--     in place of autocast, or autocast once around all, whose casts of weights it keeps), norms and losses that take half
--     precision, and<<||torch.compile, which fuses a cast into>> the op before or behind it.
-- @query SELECT duration_ns, kernel_count, module, op_name, input_types FROM kernels.work WHERE role = 'type conversion' ORDER
--     BY duration_ns DESC LIMIT 50
-- @counts kernels
-- @requires compute
-- @threshold least_share 0.02: Share of the time of compute kernels that they must take
--
-- @columns profile to rank_id, count to win_ns as in advice.finding_of_rank
-- device_share  DOUBLE   share of the time of compute kernels
-- most_module   VARCHAR  the module in which they take most; NULL where there is but one
-- most_ns       BIGINT   their time there, ns; NULL as most_module
-- from_type     VARCHAR  of the data types between which most are, the one that is read; NULL when not recorded
-- to_type       VARCHAR  the one that is written; NULL as from_type
-- most_of_types_ns  BIGINT  the time of these, ns; NULL as from_type
--
-- Casts from one data type to another (`kernels.role`) that no cast turns back, over all modules of a rank; those that are
-- turned back are in [format-conversion](#format-conversion). Casts outside modules do not count, since optimizers convert
-- weights and gradients; so a rank without modules has no finding. Nor do those that MIOpen makes of what its convolutions add
-- up. The rule needs them to take 2 % of the time of compute kernels (`least_share`). The win is all of their critical time, an
-- upper bound: some casts must be.
WITH threshold AS (
    SELECT max(value) FILTER (name = 'least_share') AS least_share
    FROM advice.threshold
    WHERE rule = 'type_conversion'
),
computed AS (
    SELECT profile, sum(duration_ns) AS duration_ns
    FROM kernels.work
    WHERE kind = 'compute'
    GROUP BY profile
),
-- Kernels have the types of what they read and what they write; PyTorch's copy, as an op, lists what it writes before that.
conversion AS (
    SELECT
        work.*,
        CASE
            WHEN work.output_types IS NOT NULL THEN nullif(work.input_types, '')
            WHEN work.op_name = 'aten::copy_' THEN nullif(split_part(work.input_types, ';', 2), '')
        END AS from_type,
        CASE
            WHEN work.output_types IS NOT NULL THEN nullif(work.output_types, '')
            WHEN work.op_name = 'aten::copy_' THEN nullif(split_part(work.input_types, ';', 1), '')
        END AS to_type
    FROM kernels.work
    WHERE work.role = 'type conversion'
      AND work.module IS NOT NULL
      AND NOT coalesce(contains(work.type, 'WithCastTensor'), false)
),
by_module AS (
    SELECT profile, module, sum(duration_ns) AS duration_ns
    FROM conversion
    GROUP BY profile, module
),
most_module AS (
    SELECT
        profile,
        count(*) > 1 AS is_shown,
        arg_max(module, (duration_ns, module)) AS module,
        max(duration_ns) AS duration_ns
    FROM by_module
    GROUP BY profile
),
by_types AS (
    SELECT profile, from_type, to_type, sum(duration_ns) AS duration_ns
    FROM conversion
    WHERE from_type IS NOT NULL AND to_type IS NOT NULL
    GROUP BY profile, from_type, to_type
),
most_types AS (
    SELECT DISTINCT ON (profile) *
    FROM by_types
    ORDER BY profile, duration_ns DESC, from_type, to_type
),
finding AS (
    SELECT
        profile,
        rank_id,
        sum(kernel_count)::BIGINT AS kernel_count,
        sum(duration_ns)::BIGINT AS duration_ns,
        sum(critical_ns)::BIGINT AS critical_ns
    FROM conversion
    GROUP BY profile, rank_id
)
SELECT
    finding.profile,
    finding.rank_id,
    kernel_count AS count,
    finding.duration_ns AS time_ns,
    critical_ns AS win_ns,
    finding.duration_ns / computed.duration_ns AS device_share,
    if(most_module.is_shown, most_module.module, NULL) AS most_module,
    if(most_module.is_shown, most_module.duration_ns, NULL)::BIGINT AS most_ns,
    most_types.from_type,
    most_types.to_type,
    most_types.duration_ns::BIGINT AS most_of_types_ns
FROM finding
JOIN computed USING (profile)
JOIN most_module USING (profile)
LEFT JOIN most_types USING (profile)
CROSS JOIN threshold
WHERE finding.duration_ns >= threshold.least_share * computed.duration_ns
