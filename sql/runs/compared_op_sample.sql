-- One row is an op of runs.compared_op and a noise sample, with its kernels in the units that are compared.
--
-- op_number     BIGINT  an op of runs.compared_op
-- sample_id     BIGINT  the noise sample, as in runs.compared_unit; NULL for kernels of no unit, and where there are no samples
-- kernel_count  BIGINT  kernels
-- duration_ns   BIGINT  their time, ns
-- unit_count    BIGINT  units of the sample, as in runs.compared_sample; NULL without a sample
WITH in_unit AS (
    SELECT op_number, run, side, profile, unnest(units, recursive := true)
    FROM runs.compared_op_rank
),
chosen AS (
    SELECT
        in_unit.op_number,
        in_unit.run,
        in_unit.side,
        compared_unit.sample_id,
        sum(in_unit.kernel_count)::BIGINT AS kernel_count,
        sum(in_unit.duration_ns)::BIGINT AS duration_ns
    FROM in_unit
    LEFT JOIN runs.compared_unit
        ON compared_unit.run = in_unit.run AND compared_unit.side = in_unit.side
        AND compared_unit.profile = in_unit.profile AND compared_unit.unit_id = in_unit.unit_id
    WHERE in_unit.unit_id IS NULL OR compared_unit.unit_id IS NOT NULL
    GROUP BY in_unit.op_number, in_unit.run, in_unit.side, compared_unit.sample_id
)
SELECT chosen.op_number, chosen.sample_id, chosen.kernel_count, chosen.duration_ns, sample.unit_count
FROM chosen
LEFT JOIN runs.compared_sample AS sample USING (run, side, sample_id)
