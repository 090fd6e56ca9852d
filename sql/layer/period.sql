-- One row is a repeating list of kernels from an anchor up to the next: the tail of a layer, the norm that opens the next
-- layer, and the head of that layer up to its anchor. There is none where what repeats is not convincing: less than half of the
-- sequence.
--
-- period         BIGINT    number, in the order of the first occurrence of each
-- symbols        BIGINT[]  the symbols of its kernels, from the anchor on: tail, opening, head
-- cores          BIGINT[]  their cores
-- kernel_count   BIGINT    kernels of a layer
-- tail_count     BIGINT    kernels from the anchor to the end of the layer
-- opening_count  BIGINT    1 where the norm that opens the next layer follows; 0 where names do not show what opens a layer
-- head_count     BIGINT    kernels that follow, before the next anchor
-- norm_count     BIGINT    norms in the tail that add the residual; NULL where names do not show what opens a layer
--
-- Anchor A, attention of M A O, a norm N that adds the residual, and F G after it:
--     kernels   E N0 M A O N F G N M A O N F G N M A O N F G N L
--     segments        |A O N F G N M|A O N F G N M|A O N F G N L
--     tail A O N F G: it ends before the last residual norm that precedes the attention; opening N; head M
--     layers       |M A O N F G|  with the norms before them: N0 M A O N F G, N M A O N F G, N M A O N F G
-- Where names show neither attention nor norms, the tail is what the segment after a run still has in common with it:
--     kernels   E A B C A B C A B C A B L     segments   |A B C|A B C|A B C|A B L     tail A B, head C; layers C A B
WITH threshold AS (
    SELECT 4 AS least_kernels, 0.5 AS least_share, 3 AS least_between
),
repeated_segment AS (
    SELECT
        symbols,
        min(cores) AS cores,
        len(symbols) AS kernel_count,
        min(attention) AS attention,
        min(norms) AS norms,
        min(block_ends) AS block_ends,
        min(segment) AS first_segment,
        count(*) AS segment_count
    FROM layer.segment
    WHERE is_repeated AND len(symbols) >= (SELECT least_kernels FROM threshold)
    GROUP BY symbols
),
-- The last residual norm before the attention; where none is before it, the last of the segment, since layer follows layer.
opened_period AS (
    SELECT
        *,
        if(
            attention IS NULL,
            NULL,
            coalesce(list_max([norm FOR norm IN norms IF norm < attention]), list_max(norms))
        ) AS opening
    FROM repeated_segment
),
by_name AS (
    SELECT
        symbols,
        block_ends[list_position(norms, opening)] AS tail_count,
        kernel_count - opening AS head_count,
        list_position(norms, opening) - 1 AS norm_count,
        symbols[opening + 1:] AS head
    FROM opened_period
    WHERE opening > 1
),
-- Segments from the last layer of a pass to the first of the next: what is between passes lies before a head that others have.
shortened AS (
    SELECT symbols, unnest([head[i:] FOR i IN range(least_between + 1, len(head) + 2)]) AS head
    FROM by_name
    CROSS JOIN threshold
),
across_passes AS (
    SELECT DISTINCT shortened.symbols
    FROM shortened
    SEMI JOIN by_name USING (head)
),
within_pass AS (
    SELECT *
    FROM repeated_segment
    ANTI JOIN across_passes USING (symbols)
),
convincing AS (
    SELECT *
    FROM within_pass
    WHERE (SELECT sum(kernel_count * segment_count) FROM within_pass)
        >= (SELECT least_share FROM threshold) * (SELECT sum(len(symbols)) FROM layer.segment)
),
run_end AS (
    SELECT symbols AS run_symbols, lead(symbols) OVER in_order AS next_symbols
    FROM layer.segment
    WINDOW in_order AS (ORDER BY segment)
    QUALIFY is_repeated AND NOT lead(is_repeated) OVER in_order
),
in_common AS (
    SELECT
        run_symbols AS symbols,
        coalesce(
            [i FOR i IN range(1, len(run_symbols) + 1) IF run_symbols[i] IS DISTINCT FROM next_symbols[i]][1] - 1,
            len(run_symbols)
        ) AS tail_count,
        count(*) AS run_count
    FROM run_end
    GROUP BY ALL
),
by_end AS (
    SELECT symbols, arg_max(tail_count, (run_count, tail_count)) AS tail_count
    FROM in_common
    GROUP BY symbols
),
known_head AS (
    SELECT
        convincing.*,
        by_name.tail_count AS named_tail_count,
        by_name.norm_count,
        coalesce(by_name.head_count, kernel_count - by_end.tail_count) AS head_count
    FROM convincing
    LEFT JOIN by_name USING (symbols)
    LEFT JOIN by_end USING (symbols)
),
-- A period whose runs always end in another period has the usual head.
usual_head AS (
    SELECT arg_max(head_count, (segment_count, -first_segment)) FILTER (head_count IS NOT NULL) AS usual_head_count
    FROM known_head
),
headed AS (
    SELECT * REPLACE (least(coalesce(head_count, usual_head_count, 0), kernel_count - 1) AS head_count)
    FROM known_head
    CROSS JOIN usual_head
)
SELECT
    row_number() OVER (ORDER BY first_segment) AS period,
    symbols,
    cores,
    kernel_count,
    coalesce(named_tail_count, kernel_count - head_count) AS tail_count,
    kernel_count - head_count - coalesce(named_tail_count, kernel_count - head_count) AS opening_count,
    head_count,
    norm_count::BIGINT AS norm_count
FROM headed
