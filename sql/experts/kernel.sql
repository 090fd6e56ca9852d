-- One row is a role and type of kernels that work for experts (MoE). experts.call and all that follows of it has the grouped
-- matmuls alone.
--
-- role          ENUM('grouped matmul', 'fused', 'dispatch', 'combine')  what they do: multiply; exchange rows, multiply and
--               exchange the results in one kernel, of which neither the rows nor the time of each part is recorded; send rows
--               to their experts; gather the results
-- kernel_type   VARCHAR  operator type, or where it is not known the name without the numbers at its end
-- kernel_count  BIGINT   kernels
-- duration_ns   BIGINT   their time, ns
-- mean_ns       DOUBLE   mean time, ns
-- min_ns        BIGINT   shortest time, ns
-- max_ns        BIGINT   longest time, ns
-- expert_count  BIGINT   experts of the rank in each of the fused ones, by the shapes of its weights; NULL when not known,
--                        where they differ, and for other roles
WITH grouped_kernel AS (
    SELECT kernel_id, true AS is_grouped
    FROM trace.grouped_matmul
),
described_kernel AS (
    SELECT
        kernel.type_id,
        kernel.name_id,
        kernel.input_shapes_id,
        coalesce(grouped_kernel.is_grouped, false) AS is_grouped,
        count(*) AS kernel_count,
        sum(selected.duration_ns) AS duration_ns,
        min(selected.duration_ns) AS min_ns,
        max(selected.duration_ns) AS max_ns
    FROM kernels.selected
    JOIN trace.kernel USING (kernel_id)
    LEFT JOIN grouped_kernel USING (kernel_id)
    WHERE selected.kind IN ('compute', 'communication')
    GROUP BY ALL
),
named_kernel AS (
    SELECT
        described_kernel.*,
        coalesce(type.text, regexp_replace(name.text, '(_\d+)+$', '')) AS kernel_type,
        if(is_grouped, 'grouped matmul', work_for_experts(coalesce(type.text, name.text))) AS role,
        list_transform(string_split(tensor_list(shapes.text), ';'), lambda one: dims_or_none_of(one)) AS tensors
    FROM described_kernel
    LEFT JOIN trace.string AS type ON type.text_id = described_kernel.type_id
    LEFT JOIN trace.string AS name ON name.text_id = described_kernel.name_id
    LEFT JOIN trace.string AS shapes ON shapes.text_id = described_kernel.input_shapes_id
),
with_experts AS (
    SELECT * EXCLUDE (tensors), if(role = 'fused' AND len(tensors[2]) >= 3, tensors[2][1], NULL) AS expert_count
    FROM named_kernel
    WHERE role IS NOT NULL
)
SELECT
    role::ENUM('grouped matmul', 'fused', 'dispatch', 'combine') AS role,
    kernel_type,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(duration_ns)::BIGINT AS duration_ns,
    sum(duration_ns) / sum(kernel_count) AS mean_ns,
    min(min_ns) AS min_ns,
    max(max_ns) AS max_ns,
    if(count(expert_count) = count(*) AND count(DISTINCT expert_count) = 1, min(expert_count), NULL) AS expert_count
FROM with_experts
GROUP BY ALL
ORDER BY duration_ns DESC, role, kernel_type
