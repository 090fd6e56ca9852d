-- One row is a kind of layer: segments with the same kernels, several one behind the other. There is none where that is not
-- convincing: where repeated segments of 4 kernels or more hold less than half of the sequence.
--
-- kind           BIGINT    number, in the order of the first of each
-- symbols        BIGINT[]  the kinds of its kernels, from the anchor on: the tail of a layer, then the head of the next
-- cores          BIGINT[]  their cores
-- kernel_count   BIGINT    how many kernels a layer has
-- head_count     BIGINT    how many of them come before the anchor
-- tail_count     BIGINT    how many come from the anchor on
WITH repeated AS (
    SELECT symbols, min(cores) AS cores, len(symbols) AS kernel_count, min(segment) AS first_segment, count(*) AS segment_count
    FROM layer.segment
    WHERE is_repeated AND len(symbols) >= 4
    GROUP BY symbols
),
convincing AS (
    SELECT *
    FROM repeated
    WHERE 2 * (SELECT sum(kernel_count * segment_count) FROM repeated) >= (SELECT sum(len(symbols)) FROM layer.segment)
),
-- Where a run of layers ends, so does what its kernels have in common with a layer: there the last one ended.
run_end AS (
    SELECT symbols AS run_symbols, lead(symbols) OVER in_order AS next_symbols
    FROM layer.segment
    WINDOW in_order AS (ORDER BY segment)
    QUALIFY is_repeated AND NOT lead(is_repeated) OVER in_order
),
ended AS (
    SELECT
        run_symbols AS symbols,
        coalesce(
            list_min(list_filter(range(1, len(run_symbols) + 1), lambda i: run_symbols[i] IS DISTINCT FROM next_symbols[i])) - 1,
            len(run_symbols)
        ) AS tail_count,
        count(*) AS run_count
    FROM run_end
    GROUP BY ALL
),
usual_end AS (
    SELECT symbols, arg_max(tail_count, (run_count, tail_count)) AS tail_count
    FROM ended
    GROUP BY symbols
),
with_end AS (
    SELECT convincing.*, kernel_count - tail_count AS head_count
    FROM convincing
    LEFT JOIN usual_end USING (symbols)
)
SELECT
    row_number() OVER (ORDER BY first_segment) AS kind,
    symbols,
    cores,
    kernel_count,
    -- A kind that only ever runs into another one has a head like that.
    least(
        coalesce(head_count, arg_max(head_count, (segment_count, -first_segment)) FILTER (head_count IS NOT NULL) OVER (), 0),
        kernel_count - 1
    ) AS head_count,
    kernel_count - least(
        coalesce(head_count, arg_max(head_count, (segment_count, -first_segment)) FILTER (head_count IS NOT NULL) OVER (), 0),
        kernel_count - 1
    ) AS tail_count
FROM with_end
