-- The innermost of the spans around each item on its thread: `item_id` and `span_id`; items outside all spans have no row.
-- `items` and `spans` are names of CTEs: items with item_id, tid, start_ns, end_ns; spans with span_id, tid, start_ns, end_ns,
-- and, as parents() finds them, parent_id, and is_last_started: whether it is the last one of those that start when it starts,
-- in the order (start, longest first).
-- The last span that started before the item is the innermost one, unless it ends too early; then the search goes on with the
-- span around it. Of spans that start together only the last one is in the ASOF join, which leaves open which of equal keys it
-- returns. Ends go along with the candidates: to look up those of the rejected takes 0.1 s more for a million kernels.
CREATE MACRO IF NOT EXISTS innermost(items, spans) AS TABLE
    WITH RECURSIVE last_started_span AS (
        SELECT span_id, parent_id, tid, start_ns, end_ns
        FROM query_table(spans)
        WHERE is_last_started
    ),
    climb_of_item AS (
        SELECT item.item_id, item.start_ns, item.end_ns, span.span_id, span.parent_id, span.end_ns AS span_end_ns
        FROM query_table(items) AS item
        ASOF JOIN last_started_span AS span ON span.tid = item.tid AND span.start_ns <= item.start_ns
        UNION ALL
        SELECT climb.item_id, climb.start_ns, climb.end_ns, span.span_id, span.parent_id, span.end_ns
        FROM climb_of_item AS climb
        JOIN query_table(spans) AS span ON span.span_id = climb.parent_id
        WHERE NOT covers(climb.span_end_ns, climb.start_ns, climb.end_ns)
    )
    SELECT item_id, span_id
    FROM climb_of_item
    WHERE covers(span_end_ns, start_ns, end_ns);

-- Each span, and the innermost span around it on its thread: `span_id`, `tid`, `start_ns`, `end_ns`, `parent_id` and
-- `parent_end_ns`, both NULL for an outermost one, and `is_crossing`: whether some span before it ends within it. `spans` is
-- the name of a CTE with span_id, tid, start_ns, end_ns. Of equal spans that with the smaller span_id is the outer one.
-- Each span starts with the one before it as candidate. While the candidate does not enclose it, the candidate's own candidate
-- replaces the candidate. Everything in between starts no later and did not enclose the candidate, so no enclosing span is
-- missed, even where spans overlap in part. A span that nothing before it reaches is outermost at once, which spares the tasks
-- of an autograd thread the search. The plain form, a join on containment, is the oracle in the tests.
CREATE MACRO IF NOT EXISTS parents(spans, within_ns := NULL) AS TABLE
    WITH RECURSIVE span_in_order AS (
        SELECT
            span_id,
            tid,
            start_ns,
            end_ns,
            lag(span_id) OVER on_thread AS before_id,
            lag(end_ns) OVER on_thread AS before_end_ns,
            max(end_ns) OVER (on_thread ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached_ns
        FROM query_table(spans)
        WINDOW on_thread AS (PARTITION BY tid ORDER BY start_ns, end_ns DESC, span_id)
    ),
    search_of_parent (span_id, tid, start_ns, end_ns, parent_id, parent_end_ns, is_crossing) USING KEY (span_id) AS (
        SELECT
            span_id,
            tid,
            start_ns,
            end_ns,
            CASE WHEN covers(reached_ns, start_ns, end_ns, within_ns := within_ns) THEN before_id END,
            CASE WHEN covers(reached_ns, start_ns, end_ns, within_ns := within_ns) THEN before_end_ns END,
            coalesce(reached_ns > start_ns AND NOT covers(reached_ns, start_ns, end_ns, within_ns := within_ns), false)
        FROM span_in_order
        UNION
        SELECT
            inside.span_id,
            inside.tid,
            inside.start_ns,
            inside.end_ns,
            rejected.parent_id,
            rejected.parent_end_ns,
            inside.is_crossing OR inside.parent_end_ns > inside.start_ns
        FROM search_of_parent AS inside
        JOIN recurring.search_of_parent AS rejected ON rejected.span_id = inside.parent_id
        WHERE NOT covers(inside.parent_end_ns, inside.start_ns, inside.end_ns, within_ns := within_ns)
    )
    SELECT span_id, tid, start_ns, end_ns, parent_id, parent_end_ns, is_crossing
    FROM search_of_parent;

-- Of the spans, the name of a CTE with span_id, tid, start_ns and end_ns, those in which an item starts, as innermost() takes
-- them. `items` is the name of a CTE with tid and start_ns. Where few items are in many spans, little is left to search.
CREATE MACRO IF NOT EXISTS spans_with(items, spans) AS TABLE
    WITH with_item AS (
        SELECT span.span_id, span.tid, span.start_ns, span.end_ns
        FROM query_table(spans) AS span
        ASOF JOIN query_table(items) AS item ON item.tid = span.tid AND item.start_ns >= span.start_ns
        WHERE item.start_ns <= span.end_ns
    )
    SELECT *, coalesce(lead(start_ns) OVER in_order <> start_ns, true) AS is_last_started
    FROM parents(with_item)
    WINDOW in_order AS (PARTITION BY tid ORDER BY start_ns, end_ns DESC, span_id);

-- The stretches of time in which a thread is in any of the spans of the lists up to `list`: `list`, `tid`, `start_ns`, `end_ns`
-- and `before_ns`, the length of all stretches of the same thread and list before it. `spans` and `threads` are names of CTEs:
-- spans with list, 1 to 4, tid, start_ns and end_ns; distinct threads with tid: spans of others do not count. Spans that only
-- touch are one stretch.
CREATE MACRO IF NOT EXISTS list_stretches(spans, threads) AS TABLE
    WITH part_of_thread AS (
        SELECT tid, list, row_number() OVER (ORDER BY tid, list) AS part_id
        FROM query_table(threads)
        -- All pairs: of a thread there are four sets of lists.
        CROSS JOIN (SELECT unnest(range(1, 5)) AS list) AS number
    ),
    -- The windows over rows that are in order already are streamed, and part and time are one number, which only grows: at a
    -- million kernels this takes 0.6 s of CPU, and windows with partitions 2 s.
    span_of_part AS (
        SELECT part.part_id, span.start_ns, span.end_ns
        FROM query_table(spans) AS span
        JOIN part_of_thread AS part ON part.tid = span.tid AND part.list >= span.list
        ORDER BY part.part_id, span.start_ns, span.end_ns
    ),
    reached AS (
        SELECT part_id, start_ns, max(pair_key(part_id, end_ns)) OVER (ROWS UNBOUNDED PRECEDING) AS reached
        FROM span_of_part
    ),
    with_before AS (
        SELECT *, lag(reached) OVER () AS reached_before
        FROM reached
    ),
    stretch_of_part AS (
        SELECT
            part_id,
            start_ns,
            lead(reached_before, 1, (SELECT max(reached) FROM reached)) OVER () - pair_key(part_id, 0) AS end_ns
        FROM with_before
        WHERE reached_before IS NULL OR pair_key(part_id, start_ns) > reached_before
    ),
    added_up AS (
        SELECT *, sum(end_ns - start_ns) OVER (ROWS UNBOUNDED PRECEDING) - (end_ns - start_ns) AS before_ns
        FROM stretch_of_part
    ),
    before_part AS (
        SELECT part_id, min(before_ns) AS before_ns
        FROM added_up
        GROUP BY part_id
    )
    SELECT
        part.list,
        part.tid,
        added_up.start_ns,
        added_up.end_ns::BIGINT AS end_ns,
        (added_up.before_ns - before_part.before_ns)::BIGINT AS before_ns
    FROM added_up
    JOIN before_part USING (part_id)
    JOIN part_of_thread AS part USING (part_id);

-- Phases of threads, and how much of each the stretches of four lists cover: `key`, `start_ns`, `end_ns` and `covered_1` to
-- `covered_4`, ns. `phases` and `stretches` are names of CTEs: phases with key, which no two share, tid, start_ns and end_ns;
-- stretches with list, 1 to 4, tid, start_ns, end_ns and before_ns, the length of those before it of the same list and thread,
-- no two of which touch.
CREATE MACRO IF NOT EXISTS covered_phases(phases, stretches) AS TABLE
    WITH list_of_thread AS (
        SELECT DISTINCT tid, list
        FROM query_table(stretches)
    ),
    bound AS (
        SELECT phase.key, phase.tid, list_of_thread.list, -1 AS sign, phase.start_ns AS at_ns
        FROM query_table(phases) AS phase
        JOIN list_of_thread USING (tid)
        UNION ALL
        SELECT phase.key, phase.tid, list_of_thread.list, 1, phase.end_ns
        FROM query_table(phases) AS phase
        JOIN list_of_thread USING (tid)
    ),
    covered_up_to AS (
        SELECT
            bound.key,
            bound.list,
            bound.sign * (stretch.before_ns + least(bound.at_ns, stretch.end_ns) - stretch.start_ns) AS signed_ns
        FROM bound
        ASOF JOIN query_table(stretches) AS stretch
            ON stretch.tid = bound.tid AND stretch.list = bound.list AND stretch.start_ns <= bound.at_ns
    ),
    covered_of_phase AS (
        SELECT
            key,
            sum(signed_ns) FILTER (list = 1) AS covered_1,
            sum(signed_ns) FILTER (list = 2) AS covered_2,
            sum(signed_ns) FILTER (list = 3) AS covered_3,
            sum(signed_ns) FILTER (list = 4) AS covered_4
        FROM covered_up_to
        GROUP BY key
    )
    SELECT
        phase.key,
        phase.start_ns,
        phase.end_ns,
        coalesce(covered.covered_1, 0)::BIGINT AS covered_1,
        coalesce(covered.covered_2, 0)::BIGINT AS covered_2,
        coalesce(covered.covered_3, 0)::BIGINT AS covered_3,
        coalesce(covered.covered_4, 0)::BIGINT AS covered_4
    FROM query_table(phases) AS phase
    LEFT JOIN covered_of_phase AS covered USING (key);

-- The spans that leave their work to others: `span_id` of each span that may wrap others, has spans directly inside it that are
-- not all of its own kind, and in which other spans do more work than it does itself. `spans`, `enclosed`, `parts` and `work`
-- are names of CTEs: spans with span_id, tid, start_ns, end_ns, kind (NULL for none) and may_wrap, 0 or 1; enclosed spans with
-- span_id and parent_id, the innermost span around; parts with span_id and whole_id: such a span does not count as one inside
-- another, and its work is that of the whole; work with span_id, work_id and is_left, 1 for work that the span leaves to others
-- though no span does it, else 0. The ids in enclosed and parts are those of spans. The same work of a span counts once.
-- A span does its work when it begins, so what other spans do within it are running sums in the order of starts, longest first.
CREATE MACRO IF NOT EXISTS wrapping(spans, enclosed, parts, work) AS TABLE
    WITH own_work AS (
        SELECT DISTINCT coalesce(part.whole_id, done.span_id) AS span_id, done.work_id, done.is_left
        FROM query_table(work) AS done
        LEFT JOIN query_table(parts) AS part USING (span_id)
    ),
    work_of_span AS (
        SELECT span_id, count(*) AS number, sum(is_left)::BIGINT AS left_number
        FROM own_work
        GROUP BY span_id
    ),
    span_around AS (
        SELECT enclosed.parent_id AS span_id, min(inside.kind) AS first_kind, max(inside.kind) AS last_kind
        FROM query_table(enclosed) AS enclosed
        ANTI JOIN query_table(parts) AS part USING (span_id)
        JOIN query_table(spans) AS inside USING (span_id)
        GROUP BY enclosed.parent_id
    ),
    -- What neither works nor can be a wrapper is left out before it is ordered: at 100,000 kernels 0.21 s in place of 0.29.
    counted_span AS (
        SELECT
            span.*,
            around.span_id IS NOT NULL
                AND span.may_wrap = 1
                AND span.end_ns > span.start_ns
                AND coalesce(span.kind <> around.first_kind OR span.kind <> around.last_kind, true) AS is_outer,
            coalesce(work_of_span.number, 0) AS number,
            coalesce(work_of_span.left_number, 0) AS left_number
        FROM query_table(spans) AS span
        LEFT JOIN work_of_span USING (span_id)
        LEFT JOIN span_around AS around USING (span_id)
        WHERE is_outer OR work_of_span.span_id IS NOT NULL
    ),
    summed_span AS (
        SELECT
            *,
            sum(number) OVER (
                PARTITION BY tid ORDER BY start_ns, end_ns DESC, span_id ROWS UNBOUNDED PRECEDING
            ) AS up_to_number
        FROM counted_span
    ),
    -- Of spans that start at the same time the last one knows the work of all of them.
    begun AS (
        SELECT tid, start_ns, max(up_to_number) AS up_to_number
        FROM summed_span
        GROUP BY tid, start_ns
    )
    SELECT span.span_id
    FROM summed_span AS span
    ASOF JOIN begun ON begun.tid = span.tid AND begun.start_ns < span.end_ns
    WHERE span.is_outer AND begun.up_to_number - span.up_to_number + span.left_number > span.number - span.left_number;

-- Phases of threads in parts in which nothing changes: `key`, `start_ns`, `end_ns` and `state_1` to `state_4`, the state of the
-- thread in each of four aspects, NULL for none. `phases` and `spans` are names of CTEs: phases with key, tid, start_ns and
-- end_ns, no two of a thread at one time; spans, nested in each other, with aspect, 1 to 4, state, tid, start_ns, end_ns, and
-- around, the state of the next span around it. A span gives its thread its state at its start, and at its end the one around
-- it. Where several start or end at once, the last that starts is the innermost, and the first that had started leaves the one
-- around it; what starts counts before what ends. Only spans that last into a phase count.
CREATE MACRO IF NOT EXISTS states(phases, spans) AS TABLE
    WITH lasting_span AS (
        SELECT span.*
        FROM query_table(spans) AS span
        ASOF JOIN query_table(phases) AS phase ON phase.tid = span.tid AND span.end_ns > phase.start_ns
        WHERE span.end_ns > span.start_ns AND span.start_ns < phase.end_ns
    ),
    moment_of_span AS (
        SELECT aspect, tid, start_ns AS at_ns, state, true AS starts, pair_key(-end_ns, state) AS position
        FROM lasting_span
        UNION ALL
        SELECT aspect, tid, end_ns, around, false, pair_key(-start_ns, -state)
        FROM lasting_span
    ),
    change AS (
        SELECT
            aspect,
            tid,
            at_ns,
            if(
                bool_or(starts),
                arg_max(state, position) FILTER (starts),
                arg_max_null(state, position) FILTER (NOT starts)
            ) AS state
        FROM moment_of_span
        GROUP BY aspect, tid, at_ns
    ),
    begin_of_part AS (
        SELECT key, start_ns
        FROM query_table(phases)
        UNION
        SELECT phase.key, change.at_ns
        FROM change
        ASOF JOIN query_table(phases) AS phase ON phase.tid = change.tid AND phase.start_ns <= change.at_ns
        WHERE change.at_ns < phase.end_ns
    ),
    part_of_phase AS (
        SELECT
            phase.key,
            phase.tid,
            part.start_ns,
            lead(part.start_ns, 1, phase.end_ns) OVER (PARTITION BY part.key ORDER BY part.start_ns) AS end_ns
        FROM begin_of_part AS part
        JOIN query_table(phases) AS phase USING (key)
    )
    SELECT
        part.key,
        part.start_ns,
        part.end_ns,
        change_1.state AS state_1,
        change_2.state AS state_2,
        change_3.state AS state_3,
        change_4.state AS state_4
    FROM part_of_phase AS part
    ASOF LEFT JOIN (FROM change WHERE aspect = 1) AS change_1 ON change_1.tid = part.tid AND change_1.at_ns <= part.start_ns
    ASOF LEFT JOIN (FROM change WHERE aspect = 2) AS change_2 ON change_2.tid = part.tid AND change_2.at_ns <= part.start_ns
    ASOF LEFT JOIN (FROM change WHERE aspect = 3) AS change_3 ON change_3.tid = part.tid AND change_3.at_ns <= part.start_ns
    ASOF LEFT JOIN (FROM change WHERE aspect = 4) AS change_4 ON change_4.tid = part.tid AND change_4.at_ns <= part.start_ns;

-- Each span with `reached_ns`, the last end of those before it (NULL for the first), in the order in which a span comes before
-- all that lie in it: start, longest first, then `turn`. `spans` is the name of a CTE with start_ns and end_ns; only spans of
-- the same `part` count.
CREATE MACRO IF NOT EXISTS reached_before(spans, part, turn := NULL) AS TABLE
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY part ORDER BY start_ns, end_ns DESC, turn ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_ns
    FROM query_table(spans);

-- Each span with the time that it adds to the union of those before it: the columns of `spans`, the name of a CTE with start_ns
-- and end_ns, and `before_ns`, the last end of the spans before it (NULL for the first), `from_ns`, from where on it adds time,
-- `added_ns`, and `reached_ns`, the last end so far. `part` are columns by which spans are united apart. `turn` is what orders
-- equal spans, where it matters which of them adds the time.
CREATE MACRO IF NOT EXISTS added(spans, part := NULL, turn := NULL) AS TABLE
    SELECT
        *,
        max(end_ns) OVER earlier AS before_ns,
        greatest(start_ns, coalesce(max(end_ns) OVER earlier, start_ns)) AS from_ns,
        greatest(0, end_ns - greatest(start_ns, coalesce(max(end_ns) OVER earlier, start_ns))) AS added_ns,
        greatest(end_ns, coalesce(max(end_ns) OVER earlier, end_ns)) AS reached_ns
    FROM query_table(spans)
    WINDOW earlier AS (
        PARTITION BY part ORDER BY start_ns, end_ns, turn ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    );

-- The union of spans at each moment at which one starts: `start_ns`, `covered_ns`, how long those that have begun cover in all,
-- and `reached_ns`, the last of their ends. covered_until() has how much of that lies before any other moment. `spans` is the
-- name of a CTE with start_ns and end_ns.
-- The windows over rows that are in order already are streamed: a million spans take half the time of windows that sort. Of
-- spans that start together, the last one knows what all of them reach.
CREATE MACRO IF NOT EXISTS covered(spans) AS TABLE
    WITH span_in_order AS (
        SELECT start_ns, end_ns
        FROM query_table(spans)
        ORDER BY start_ns, end_ns
    ),
    reaching_span AS (
        SELECT start_ns, max(end_ns) OVER (ROWS UNBOUNDED PRECEDING) AS reached_ns, lead(start_ns) OVER () AS next_ns
        FROM span_in_order
    ),
    adding_span AS (
        SELECT *, greatest(0, reached_ns - greatest(start_ns, coalesce(lag(reached_ns) OVER (), start_ns))) AS added_ns
        FROM reaching_span
    ),
    summed_span AS (
        SELECT *, sum(added_ns) OVER (ROWS UNBOUNDED PRECEDING)::BIGINT AS covered_ns
        FROM adding_span
    )
    SELECT start_ns, covered_ns, reached_ns
    FROM summed_span
    WHERE next_ns IS NULL OR next_ns > start_ns;

-- How long intervals cover the time up to a moment: those that had begun cover `covered_ns` up to `reached_ns`, the last of
-- their ends; both are NULL where none had begun.
CREATE MACRO IF NOT EXISTS covered_until(covered_ns, reached_ns, at_ns) AS
    coalesce(covered_ns - greatest(0, reached_ns - at_ns), 0);

-- The stretches of time that spans cover without a gap: `part`, `start_ns`, `end_ns` and `span_count`. `spans` and `part` as in
-- added(). Spans that only touch are one stretch.
CREATE MACRO IF NOT EXISTS stretches(spans, part := NULL) AS TABLE
    WITH numbered_span AS (
        SELECT
            part AS part_of_span,
            start_ns,
            end_ns,
            sum(if(start_ns <= before_ns, 0, 1)) OVER (
                PARTITION BY part ORDER BY start_ns, end_ns ROWS UNBOUNDED PRECEDING
            ) AS stretch
        FROM added(spans, part)
    )
    SELECT part_of_span AS part, min(start_ns) AS start_ns, max(end_ns) AS end_ns, count(*) AS span_count
    FROM numbered_span
    GROUP BY part_of_span, stretch;
