-- One row is a layer of the repeating structure, or one that is irregular, by the places of its kernels.
--
-- layer_id      BIGINT   number, in the order of time
-- kind          BIGINT   which kind of layer of layer.kind; of an irregular one NULL
-- anchor_place  BIGINT   place of its anchor, as in layer.place
-- first_place   BIGINT   place of its first kernel
-- last_place    BIGINT   place of its last kernel
-- reason        VARCHAR  why it is irregular; NULL where it is not
WITH known AS (
    SELECT
        segment.segment,
        segment.anchor_place,
        segment.symbols,
        lag(segment.symbols) OVER in_order AS symbols_before,
        lag(segment.cores) OVER in_order AS cores_before,
        kind.kind AS kind_of_segment,
        last_value(kind.kind IGNORE NULLS) OVER (ORDER BY segment.segment ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            AS kind_before,
        first_value(kind.kind IGNORE NULLS) OVER (ORDER BY segment.segment ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
            AS kind_behind
    FROM layer.segment
    LEFT JOIN layer.kind USING (symbols)
    WINDOW in_order AS (ORDER BY segment.segment)
),
-- The last layer before something else begins with the tail of its kind.
compared AS (
    SELECT
        known.*,
        kind_of_segment IS NULL AND coalesce(known.symbols[1:before.tail_count] = before.symbols[1:before.tail_count], false)
            AS ends_run,
        if(ends_run, kind_before, coalesce(kind_of_segment, kind_behind, kind_before)) AS likely_kind
    FROM known
    LEFT JOIN layer.kind AS before ON before.kind = kind_before
    WHERE segment > 0
),
headed AS (
    SELECT
        compared.*,
        kind.head_count,
        kind.tail_count,
        kind.kernel_count,
        kind.symbols[1:kind.tail_count] AS tail,
        kind.symbols[kind.tail_count + 1:] AS head,
        kind.cores[kind.tail_count + 1] AS first_core,
        coalesce(len(symbols_before), 0) AS count_before,
        kind.head_count = 0 OR coalesce(symbols_before[-kind.head_count:] = head, false) AS has_head,
        ends_run OR kind_of_segment IS NOT NULL AS has_tail
    FROM compared
    JOIN layer.kind ON kind.kind = likely_kind
),
-- Where the head is another one, it begins with the same kernel, or at least with one on the same cores.
searched AS (
    SELECT
        *,
        if(
            has_head,
            NULL,
            coalesce(
                list_filter(range(1, count_before + 1), lambda i: symbols_before[i] = head[1])
                    [-len(list_filter(head, lambda one: one = head[1]))],
                list_filter(range(1, count_before + 1), lambda i: cores_before[i] = first_core)[-1]
            )
        ) AS found_before,
        if(
            has_tail,
            NULL,
            list_filter(range(1, len(symbols) + 1), lambda i: symbols[i] = tail[-1])
                [len(list_filter(tail, lambda one: one = tail[-1]))]
        ) AS found_behind
    FROM headed
),
begun AS (
    SELECT
        *,
        anchor_place - CASE
            WHEN has_head THEN head_count
            WHEN count_before - found_before + 1 <= 2 * kernel_count
                AND found_before > if(lag(ends_run) OVER in_order, lag(tail_count) OVER in_order, 0)
                THEN count_before - found_before + 1
            ELSE least(head_count, count_before)
        END AS first_place
    FROM searched
    WINDOW in_order AS (ORDER BY segment)
),
ended AS (
    SELECT
        *,
        lead(first_place) OVER in_order - 1 AS place_before_next,
        CASE
            WHEN ends_run THEN anchor_place + tail_count - 1
            WHEN has_tail OR place_before_next - anchor_place < 2 * kernel_count
                THEN coalesce(place_before_next, anchor_place + tail_count - 1)
            WHEN found_behind <= 2 * tail_count THEN anchor_place + found_behind - 1
            ELSE anchor_place + least(tail_count, len(symbols)) - 1
        END AS last_place
    FROM begun
    WINDOW in_order AS (ORDER BY segment)
)
SELECT
    segment AS layer_id,
    if(has_head AND has_tail, likely_kind, NULL) AS kind,
    anchor_place,
    first_place,
    least(last_place, place_before_next) AS last_place,
    CASE
        WHEN has_head AND has_tail THEN NULL
        WHEN has_tail THEN 'begins with other kernels'
        WHEN has_head THEN 'goes on with other kernels'
        ELSE 'has other kernels'
    END AS reason
FROM ended
