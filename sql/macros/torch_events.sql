-- The rows of trace.op from ops as torch.profiler writes them in JSON. `events` and `strings` are the names of CTEs of
-- raw.cpu_op and trace.string.
CREATE MACRO IF NOT EXISTS ops_of_events(events, strings) AS TABLE
    SELECT
        event_id AS op_id,
        thread_id(pid, tid) AS tid,
        name AS name_id,
        start_ns,
        end_ns,
        end_ns - start_ns AS duration_ns,
        coalesce(name IN (SELECT text_id FROM query_table(strings) WHERE is_name_of_step(text)), false) AS is_step,
        nullif(sequence_number, -1) AS sequence_number,
        forward_thread_id,
        input_dims AS input_shapes_id,
        input_types AS input_types_id
    FROM query_table(events)
    WHERE is_host_time(start_ns, end_ns);

-- The rows of trace.stack_frame from stacks that are one text each, the innermost frame first. `texts` is the name of a CTE of
-- these rows of trace.string.
CREATE MACRO IF NOT EXISTS frames_of_texts(texts) AS TABLE
    WITH framed_stack AS (
        SELECT text_id AS stack_id, list_filter(frames_of_stack(text), lambda frame: frame <> '') AS frames
        FROM query_table(texts)
    ),
    place_in_stack AS (
        SELECT stack_id, frames, unnest(range(len(frames))) AS depth
        FROM framed_stack
    )
    SELECT stack_id, depth, frames[depth + 1] AS frame
    FROM place_in_stack;

-- The rows of trace.module_begin from calls of modules and of other functions as torch.profiler writes them in JSON. `calls`,
-- `entries` and `strings` are the names of CTEs of raw.module_call, raw.module_entry and trace.string. Other functions ask the
-- same as modules do, but not first of all.
CREATE MACRO IF NOT EXISTS begins_of_modules(calls, entries, strings) AS TABLE
    WITH traced_module AS (
        SELECT text_id, number_of_traced_module(text) AS number
        FROM query_table(strings)
        WHERE text_id IN (SELECT name FROM query_table(calls))
    )
    SELECT
        thread_id(pid, tid) AS tid,
        name AS name_id,
        class AS class_id,
        traced_module.number,
        start_ns,
        end_ns,
        python_id,
        caller_id
    FROM query_table(calls) AS call
    LEFT JOIN traced_module ON traced_module.text_id = call.name
    WHERE is_host_time(start_ns, end_ns)
    UNION ALL
    SELECT thread_id(pid, tid), NULL, NULL, NULL, start_ns, NULL, python_id, caller_id
    FROM query_table(entries)
    WHERE python_id = caller_id + 1 AND is_host_time(start_ns, end_ns);
