-- One row is a finding that wins something, and one above it that counts the same time, or a part of it.
--
-- finding_id          VARCHAR  the finding
-- shared_with         VARCHAR  finding_id of the one above it
-- shared_ns_per_step  BIGINT   how much of the win both may count at most, ns in a step
-- is_most             BOOLEAN  whether it shares more with this one than with any other, or as much and this one comes first
WITH timed_finding AS (
    SELECT finding.*, coalesce(counted_time.time, 'kernels') AS time
    FROM advice.finding_of_run AS finding
    LEFT JOIN advice.counted_time USING (rule)
    WHERE finding.win_ns_per_step > 0
),
about AS (
    SELECT DISTINCT timed_finding.finding_id, timed_finding.place, work.module, work.op_name, work.type
    FROM timed_finding
    JOIN advice.finding_work AS work USING (finding_id)
    WHERE timed_finding.time = 'kernels'
),
same_kernels AS (
    SELECT DISTINCT below.finding_id, above.finding_id AS shared_with
    FROM about AS below
    JOIN about AS above
        ON above.place < below.place
        AND above.module IS NOT DISTINCT FROM below.module
        AND above.op_name IS NOT DISTINCT FROM below.op_name
        AND above.type IS NOT DISTINCT FROM below.type
),
pair AS (
    SELECT
        below.finding_id,
        above.finding_id AS shared_with,
        above.place,
        least(below.win_ns_per_step, above.win_ns_per_step) AS shared_ns_per_step
    FROM timed_finding AS below
    JOIN timed_finding AS above ON above.place < below.place
    LEFT JOIN same_kernels ON same_kernels.finding_id = below.finding_id AND same_kernels.shared_with = above.finding_id
    WHERE CASE
        -- A rank that comes late costs time on the others.
        WHEN above.time = 'ranks' AND below.time = 'ranks' THEN true
        WHEN above.rank_id <> below.rank_id THEN false
        WHEN same_kernels.finding_id IS NOT NULL OR 'steps' IN (above.time, below.time) THEN true
        WHEN above.time = 'transfers' AND below.time = 'transfers'
            THEN coalesce(above.kernel_type = below.kernel_type, true)
        WHEN 'late_host' IN (above.rule, below.rule)
            THEN 'data_loading' IN (above.rule, below.rule) OR coalesce(above.op = below.op, false)
        WHEN 'unfused_chain' IN (above.rule, below.rule) THEN 'launch_bound' IN (above.rule, below.rule)
        ELSE 'idle' IN (above.time, below.time) AND above.time IN ('host', 'idle') AND below.time IN ('host', 'idle')
    END
)
SELECT
    finding_id,
    shared_with,
    shared_ns_per_step,
    row_number() OVER (PARTITION BY finding_id ORDER BY shared_ns_per_step DESC, place) = 1 AS is_most
FROM pair
ORDER BY finding_id, is_most DESC, shared_with
