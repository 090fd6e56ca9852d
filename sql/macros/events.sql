-- A time of whole ns as a JSON text in us with three decimals: "12.345". Perfetto reads texts digit by digit, but numbers as
-- floats that it cuts off, by which nested slices would cross.
CREATE MACRO IF NOT EXISTS event_us(time_ns) AS '"' || (time_ns::DECIMAL(19, 0) * 0.001::DECIMAL(3, 3))::VARCHAR || '"';

-- A text of a profile in JSON, at most 1000 characters long. Characters that control a terminal, end a line or change the
-- direction of text become U+FFFD: some readers refuse a file that has them, even escaped.
CREATE MACRO IF NOT EXISTS event_text(text) AS
    to_json(
        regexp_replace(
            if(length(text) > 1000, left(text, 999) || '…', text),
            '[\x00-\x1f\x7f-\x{9f}\x{61c}\x{200e}\x{200f}\x{2028}\x{2029}\x{202a}-\x{202e}\x{2066}-\x{2069}]',
            '�',
            'g'
        )
    )::VARCHAR;

-- A member of a JSON object, with a comma in front; nothing where the value, as JSON, is NULL.
CREATE MACRO IF NOT EXISTS event_member(name, json) AS coalesce(',"' || name || '":' || json, '');

-- A slice of a timeline as JSON, in the Trace Event Format: what lasts from a start on. `members` begin with a comma.
CREATE MACRO IF NOT EXISTS slice_event(pid, tid, after_ns, duration_ns, name, kind, members) AS
    '{"ph":"X","pid":' || pid || ',"tid":' || tid || ',"ts":' || event_us(after_ns) || ',"dur":' || event_us(duration_ns)
    || ',"name":' || name || ',"cat":"' || kind || '","args":{' || members[2:] || '}}';
