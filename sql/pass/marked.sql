-- One row is a pass that annotations mark on the host, in the order of time. Marks inside each other tell of one pass, which
-- lasts as long as the outermost; one around several passes is none. A draft model inside a pass has passes of its own. The
-- model in a pass marks it where nothing else does.
--
-- @guard pass.mark
--
-- marked_id  BIGINT   the id, counted from 1
-- is_inner   BOOLEAN  whether it lies in another one, as that of a draft model does
-- start_ns   BIGINT   start, Unix ns
-- end_ns     BIGINT   end, Unix ns
-- @columns phase to decode_pair_count as in pass.annotation
WITH candidate AS (
    SELECT *, if(what IN ('draft', 'capture'), what::VARCHAR, 'pass') AS kind
    FROM pass.mark
    WHERE what IN ('pass', 'draft', 'capture')
       OR what = 'forward' AND NOT EXISTS (FROM pass.mark WHERE what = 'pass')
),
-- Marks nest, and those inside a mark follow it on its thread.
around AS (
    SELECT inner_mark.mark_id, outer_mark.mark_id AS outer_id
    FROM candidate AS inner_mark
    -- All pairs: passes of a recording are few, and only those of one thread meet.
    JOIN candidate AS outer_mark
        ON outer_mark.tid = inner_mark.tid AND outer_mark.kind = inner_mark.kind AND outer_mark.mark_id < inner_mark.mark_id
        AND outer_mark.end_ns >= inner_mark.end_ns AND outer_mark.start_ns <= inner_mark.start_ns
),
leaf AS (
    SELECT mark_id AS leaf_id
    FROM candidate
    WHERE mark_id NOT IN (SELECT outer_id FROM around)
),
leaves_of AS (
    SELECT outer_id, count(*) AS leaf_count
    FROM around
    JOIN leaf ON leaf.leaf_id = around.mark_id
    GROUP BY outer_id
),
mark_of_leaf AS (
    SELECT leaf_id, leaf_id AS mark_id
    FROM leaf
    UNION ALL
    SELECT leaf.leaf_id, around.outer_id
    FROM leaf
    JOIN around ON around.mark_id = leaf.leaf_id
    JOIN leaves_of USING (outer_id)
    WHERE leaf_count = 1
),
-- Of what several marks say, that of the outermost counts.
merged AS (
    SELECT
        min(candidate.mark_id) AS mark_id,
        min(candidate.kind) AS kind,
        min(candidate.tid) AS tid,
        min(candidate.start_ns) AS start_ns,
        max(candidate.end_ns) AS end_ns,
        arg_min(phase, candidate.mark_id) AS phase,
        arg_min(request_count, candidate.mark_id) AS request_count,
        arg_min(prefill_request_count, candidate.mark_id) AS prefill_request_count,
        arg_min(decode_request_count, candidate.mark_id) AS decode_request_count,
        arg_min(token_count, candidate.mark_id) AS token_count,
        arg_min(padded_request_count, candidate.mark_id) AS padded_request_count,
        arg_min(prefill_token_count, candidate.mark_id) AS prefill_token_count,
        arg_min(prefill_key_count, candidate.mark_id) AS prefill_key_count,
        arg_min(prefill_square_count, candidate.mark_id) AS prefill_square_count,
        arg_min(prefill_pair_count, candidate.mark_id) AS prefill_pair_count,
        arg_min(decode_token_count, candidate.mark_id) AS decode_token_count,
        arg_min(decode_key_count, candidate.mark_id) AS decode_key_count,
        arg_min(decode_square_count, candidate.mark_id) AS decode_square_count,
        arg_min(decode_pair_count, candidate.mark_id) AS decode_pair_count
    FROM mark_of_leaf
    JOIN candidate USING (mark_id)
    JOIN pass.annotation USING (name_id)
    GROUP BY leaf_id
)
SELECT
    row_number() OVER (ORDER BY mark_id) AS marked_id,
    kind <> 'pass' AND EXISTS (
        FROM merged AS other
        WHERE other.kind = 'pass' AND other.start_ns <= merged.start_ns AND other.end_ns >= merged.end_ns
    ) AS is_inner,
    * EXCLUDE (mark_id, kind, tid)
FROM merged
ORDER BY marked_id
