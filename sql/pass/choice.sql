-- One row is a pass before which the device idles while the host chooses tokens or makes texts of them: in marks of engines, in
-- Python functions of files that are about it, and in ops that choose or fetch a number. Only threads that ask for kernels of
-- passes count, as others hold nobody up.
--
-- @guard pass.kernel
--
-- pass_id    BIGINT   a pass of pass.instance
-- choice_ns  BIGINT   how long the device idles meanwhile, after the passes before, ns
-- name_id    TEXT_ID  what of it lasts longest in that time: the mark, function or op; of those inside each other the outermost
-- name_ns    BIGINT   how long the device idles meanwhile, ns
WITH gap AS (
    SELECT gap_id, start_ns, end_ns
    FROM free.gap
),
turn AS (
    SELECT pass_id, next_id, start_ns, end_ns
    FROM pass.turn
),
gap_before AS (
    SELECT placed.next_id AS pass_id, gap.start_ns - clock.offset_ns AS start_ns, gap.end_ns - clock.offset_ns AS end_ns
    FROM gaps_of_turns(gap, turn) AS placed
    JOIN gap USING (gap_id)
    -- All pairs: the offset of the clock is one row.
    CROSS JOIN clock.offset AS clock
    WHERE placed.next_id IS NOT NULL
),
asking AS (
    SELECT DISTINCT asked.tid
    FROM pass.kernel
    JOIN kernels.asked USING (kernel_id)
),
choosing_op AS (
    SELECT text_id AS name_id
    FROM trace.string
    WHERE text IN (
        'aten::argmax', 'aten::item', 'aten::_local_scalar_dense', 'aten::multinomial', 'aten::sort', 'aten::topk'
    )
),
used_frame AS (
    SELECT DISTINCT name_id AS text_id
    FROM trace.frame
),
-- Files and folders of vLLM, SGLang and vLLM-Ascend that choose tokens, process their scores, and make texts of them.
choosing_frame AS (
    SELECT text_id AS name_id
    FROM used_frame
    JOIN trace.string USING (text_id)
    WHERE regexp_matches(text, '(^|[/\\])(sample|sampler|sampling|logits_process|detokenizer|output_processor)\w*[/\\.]')
),
choosing AS (
    SELECT name_id, tid, start_ns, end_ns
    FROM pass.mark
    WHERE what IN ('sampling', 'detokenising')
    UNION ALL
    SELECT op.name_id, op.tid, op.start_ns, op.end_ns
    FROM trace.op
    SEMI JOIN choosing_op USING (name_id)
    UNION ALL
    SELECT frame.name_id, frame.tid, frame.start_ns, frame.end_ns
    FROM trace.frame
    SEMI JOIN choosing_frame USING (name_id)
),
part AS (
    SELECT
        gap_before.pass_id,
        choosing.name_id,
        greatest(choosing.start_ns, gap_before.start_ns) AS start_ns,
        least(choosing.end_ns, gap_before.end_ns) AS end_ns
    FROM choosing
    SEMI JOIN asking USING (tid)
    JOIN gap_before ON choosing.start_ns < gap_before.end_ns AND choosing.end_ns > gap_before.start_ns
),
of_name AS (
    SELECT pass_id, name_id, sum(added_ns)::BIGINT AS name_ns
    FROM added(part, (pass_id, name_id))
    GROUP BY pass_id, name_id
),
longest AS (
    SELECT of_name.pass_id, arg_max(of_name.name_id, (of_name.name_ns, string.text)) AS name_id, max(of_name.name_ns) AS name_ns
    FROM of_name
    LEFT JOIN trace.string ON string.text_id = of_name.name_id
    GROUP BY of_name.pass_id
),
of_pass AS (
    SELECT pass_id, sum(added_ns)::BIGINT AS choice_ns
    FROM added(part, pass_id)
    GROUP BY pass_id
)
SELECT of_pass.pass_id, of_pass.choice_ns, longest.name_id, longest.name_ns
FROM of_pass
JOIN longest USING (pass_id)
ORDER BY of_pass.pass_id
