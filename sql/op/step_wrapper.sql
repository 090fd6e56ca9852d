-- One row is a name of what wraps a profiler step, as in ProfilerStep#7. It stands among the ops (and, since 2026, among the mstx
-- ranges of the domain default) and is none: no call of the framework, but all the time between two calls of prof.step().
--
-- name_id  TEXT_ID  the name
SELECT text_id AS name_id
FROM trace.string
WHERE starts_with(text, 'ProfilerStep#')
