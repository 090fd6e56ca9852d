-- One row is a threshold of a rule of advice: from which figure on the rule finds something.
--
-- rule     VARCHAR  the rule: a table of advice; every for all rules
-- name     VARCHAR  name of the threshold: --threshold rule.name=value sets it
-- value    DOUBLE   the value that applies
-- usual    DOUBLE   the value where none is given
-- unit     VARCHAR  its unit; NULL for a plain number
-- meaning  VARCHAR  what it does, and where it comes from
WITH usual (rule, name, usual, unit, meaning) AS (
    VALUES
        -- All rules.
        (
            'every',
            'least_share',
            0.005::DOUBLE,
            NULL::VARCHAR,
            'Share of the step that must be won; where nothing can be won, or it is not known, that the time at issue must have'
        ),
        -- The host.
        (
            'garbage_collection',
            'least_gap_count',
            1,
            NULL,
            'Gaps of the device in which the garbage collector must have run'
        ),
        (
            'garbage_collection',
            'least_unrecorded_ns',
            100000000,
            'ns',
            'From how long a gap without any record may be a collection that was not recorded; acts as the next power of ten'
        ),
        (
            'launch_bound',
            'least_gap_count',
            20,
            NULL,
            'Gaps of the device in a step before kernels that were launched late: fewer are no stretch of them'
        ),
        (
            'launch_bound',
            'long_ns',
            100000,
            'ns',
            'From how long in a gap the host does more than launch: in an op, or between ops (python_between_ops); acts as the '
            || 'next power of ten'
        ),
        (
            'launch_bound',
            'least_op_share',
            0.01,
            NULL,
            'Share of the step from which such an op is a finding of its own'
        ),
        (
            'python_between_ops',
            'least_module_share',
            0.05,
            NULL,
            'Share of the step from which such time in a module is a finding of its own'
        ),
        (
            'slow_start',
            'least_ns',
            10000,
            'ns',
            'From how long a gap is long before a kernel that was launched in time: the device starts it within 1 to 5 us; '
            || 'acts as the next power of ten'
        ),
        ('slow_start', 'least_gap_count', 20, NULL, 'Such gaps in a step'),
        ('slow_start', 'least_share', 0.05, NULL, 'Share of the step that waits behind launches must have if gaps are fewer'),
        -- The device.
        (
            'block_dim',
            'least_duration_ns',
            10000,
            'ns',
            'Mean time that kernels must have: shorter ones have too little work for all cores'
        ),
        ('block_dim', 'least_idle_share', 0.1, NULL, 'Share of the cores that have no work'),
        ('cube_idle', 'least_idle_share', 0.4, NULL, 'Share of computing in which vector cores alone work'),
        (
            'full_precision',
            'least_half_share',
            0.5,
            NULL,
            'Share of half precision in the time of all that multiplies matrices'
        ),
        (
            'full_precision',
            'matrix_speedup',
            16,
            NULL,
            'How much faster half precision multiplies matrices where no peaks are known: the most on any device'
        ),
        ('full_precision', 'vector_speedup', 2, NULL, 'How much faster vectors of half the bytes are computed'),
        ('hf32_off', 'hf32_speedup', 2, NULL, 'How much faster HF32 is than FP32: twice the operations in a cycle'),
        ('hf32_off', 'tf32_speedup', 16, NULL, 'How much faster TF32 is than FP32: the most on any device'),
        ('low_clock', 'least_drop', 0.05, NULL, 'Mean drop below the rated clock, as in msprof-analyze'),
        -- Communication.
        (
            'exposed_communication',
            'covered_share',
            0.05,
            NULL,
            'Share of communication that may be without computing where it counts as covered'
        ),
        (
            'exposed_communication',
            'large_share',
            0.05,
            NULL,
            'Share of the step from which covered communication is reported, as msprof-analyze has it for high priority'
        ),
        (
            'late_host',
            'least_waited_share',
            0.5,
            NULL,
            'Share of what other ranks wait that the host of the late rank must be longer in an op, as for the causes of '
            || 'slow-ranks'
        ),
        ('stage_imbalance', 'least_imbalance', 1.05, NULL, 'Longest computing of a stage / mean, as msprof-analyze has it'),
        ('expert_imbalance', 'least_imbalance', 1.2, NULL, 'Time of the slowest rank / mean, in grouped matmuls of a module'),
        (
            'small_messages',
            'least_bytes',
            16 * 1024 * 1024,
            'bytes',
            'Smaller packets are small, over links within a node, as msprof-analyze has it for SDMA'
        ),
        ('small_messages', 'least_rdma_bytes', 1024 * 1024, 'bytes', 'The same over RDMA, as msprof-analyze has it'),
        ('small_messages', 'least_share', 0.2, NULL, 'Share of packets that must be small, as msprof-analyze has it'),
        ('small_messages', 'least_operators', 2, NULL, 'Operators of the type in a step: one alone cannot be sent with others'),
        ('retransmission', 'least_ns', 4000000000, 'ns', 'Time of a transfer over RDMA, as msprof-analyze has it'),
        -- Memory and model.
        ('memory_limit', 'most_left_share', 0.1, NULL, 'Share of the device memory that may be left at the peak'),
        (
            'memory_limit',
            'memory_gib',
            0,
            'GiB',
            'Memory of a device for profiles that do not record it; 0: not known, so the rule is silent there'
        ),
        ('memory_fragmentation', 'least_unused_share', 0.2, NULL, 'Share of what is reserved that no block ever uses'),
        ('memory_fragmentation', 'least_unused_gib', 1, 'GiB', 'How much that is at least'),
        ('memory_growth', 'least_mib_per_step', 1, 'MiB', 'What an op leaves in each step at least'),
        ('unlike_layer', 'least_excess_share', 0.1, NULL, 'How much longer than its siblings a layer takes at least'),
        (
            'unlike_layer',
            'least_deviations',
            3,
            NULL,
            'The same in standard deviations of the siblings, by their median deviation'
        ),
        ('unlike_layer', 'least_sibling_count', 4, NULL, 'Layers with the same kernels, at least'),
        (
            'unlike_layer',
            'most_unlike_share',
            0.25,
            NULL,
            'Share of them that may take about as much longer; if more do, they are of another kind'
        ),
        ('first_steps', 'least_excess_share', 0.2, NULL, 'How much longer than later ones the first steps take at least'),
        ('first_steps', 'least_later_count', 2, NULL, 'Steps after them, at least'),
        ('uneven_steps', 'least_excess_share', 0.3, NULL, 'How much longer than the median a step takes at least'),
        ('uneven_steps', 'least_step_count', 5, NULL, 'Steps of a rank, at least'),
        (
            'uneven_steps',
            'most_uneven_share',
            0.25,
            NULL,
            'Share of the steps that may take longer; if more do, they are of several kinds'
        ),
        (
            'graph_fallback',
            'least_replayed_share',
            0.5,
            NULL,
            'Share of the compute kernels that replayed graphs run, so that this is graph mode'
        ),
        ('graph_fallback', 'least_kernel_count', 2, NULL, 'Kernels of an op that are launched one by one, at least'),
        ('sync_batch_norm', 'least_call_count', 20, NULL, 'Forward calls, at least; from msprof-analyze'),
        ('compiling_launches', 'least_calls', 20, NULL, 'Calls in a step, as msprof-analyze has it for the whole recording'),
        ('unexplained_idle', 'least_share', 0.05, NULL, 'Share of the time in which the device must be idle so'),
        ('unexplained_idle', 'least_mean_ns', 5000, 'ns', 'Mean length of the gaps; the device itself makes shorter ones'),
        -- Kernels.
        (
            'memory_bound',
            'least_busy_percent',
            80,
            '%',
            'Part of the time in which memory must be busy: msprof-analyze calls a kernel bound from 0.8 on'
        ),
        ('memory_bound', 'least_duration_ns', 20000, 'ns', 'Mean time that kernels must have, as for no_bound'),
        ('no_bound', 'most_busy_percent', 80, '%', 'Part of the time below which nothing is busy, as in msprof-analyze'),
        ('no_bound', 'least_duration_ns', 20000, 'ns', 'Mean time that kernels must have, as in msprof-analyze'),
        (
            'scalar_bound',
            'least_busy_percent',
            80,
            '%',
            'Part of the time in which the scalar unit must be busy, as for memory_bound'
        ),
        ('scalar_bound', 'least_duration_ns', 20000, 'ns', 'Mean time that kernels must have, as for no_bound'),
        ('slow_matmul', 'most_efficiency', 0.5, NULL, 'Share of the peak from which on a matmul is not slow'),
        (
            'slow_matmul',
            'attainable_efficiency',
            0.8,
            NULL,
            'Share of the peak that matmuls can reach where none does: from 0.8 on msprof-analyze calls the cube bound'
        ),
        ('slow_matmul', 'least_win_share', 0.1, NULL, 'Share of the critical time that can be won'),
        ('slow_matmul', 'few_rows', 128, NULL, 'Rows, columns or products below which a matmul is small'),
        ('slow_matmul', 'aligned_bytes', 256, 'bytes', 'What the inner axes of matrices are a multiple of')
),
given AS (
    SELECT string_split(text, '=')[1] AS name, string_split(text, '=')[2]::DOUBLE AS value
    FROM (SELECT unnest(getvariable('thresholds')::VARCHAR[]) AS text)
)
SELECT usual.rule, usual.name, coalesce(given.value, usual.usual) AS value, usual.usual, usual.unit, usual.meaning
FROM usual
LEFT JOIN given ON given.name = usual.rule || '.' || usual.name
ORDER BY ALL
