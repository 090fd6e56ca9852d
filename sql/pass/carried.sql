-- One row is a pass of which the host shows that requests go on: it takes their last tokens on the device from what the pass
-- before chose.
--
-- @guard trace.op_input
--
-- pass_id        BIGINT  a pass of pass.kernel
-- carried_count  BIGINT  requests that go on
--
-- Tokens that a pass chose are a column, one a request. The next pass copies it, or scatters it among the tokens of new
-- requests.
WITH named_op AS (
    SELECT op.start_ns, string.text AS name, op_input.input_shapes_id, op_input.input_values_id
    FROM trace.op
    JOIN trace.op_input USING (op_id)
    JOIN trace.string ON string.text_id = op.name_id
    WHERE string.text IN ('aten::select', 'aten::scatter_')
),
shaped_op AS (
    SELECT
        named_op.start_ns,
        named_op.name,
        list_transform(string_split(shapes.text, ';'), lambda shape: dims_of(shape)) AS shapes,
        CASE WHEN json_valid(input_values.text) THEN json_extract_string(input_values.text, '$[*]') END AS input_values
    FROM named_op
    JOIN trace.string AS shapes ON shapes.text_id = named_op.input_shapes_id
    LEFT JOIN trace.string AS input_values ON input_values.text_id = named_op.input_values_id
),
taking AS (
    SELECT start_ns, if(name = 'aten::select', shapes[1][1], shapes[3][1]) AS carried_count
    FROM shaped_op
    WHERE if(
        name = 'aten::select',
        len(shapes[1]) = 2 AND shapes[1][2] = 1 AND input_values[2] = '1' AND input_values[3] = '0',
        len(shapes[1]) = 1 AND len(shapes[3]) = 1 AND shapes[3] = shapes[4]
    )
),
span AS (
    SELECT pass_id, min(asked_ns) AS start_ns, max(asked_ns) AS end_ns
    FROM pass.kernel
    JOIN kernels.asked USING (kernel_id)
    GROUP BY pass_id
)
SELECT span.pass_id, max(taking.carried_count) AS carried_count
FROM span
-- All pairs: few ops take tokens.
JOIN taking ON taking.start_ns >= span.start_ns AND taking.start_ns <= span.end_ns
GROUP BY span.pass_id
