-- A time of whole ns in us with three decimals, 12.345, for a JSON text: Perfetto reads texts digit by digit, but numbers as
-- floats that it cuts off, by which nested slices would cross.
-- Up to eleven days, 64 bits suffice, which take a third of the time of 128.
CREATE MACRO IF NOT EXISTS event_us(time_ns) AS
    if(
        time_ns < 1000000000000000,
        (time_ns::DECIMAL(15, 0) * 0.001::DECIMAL(3, 3))::VARCHAR,
        (time_ns::DECIMAL(19, 0) * 0.001::DECIMAL(3, 3))::VARCHAR
    );

-- Whether a text of a profile is short, and in ASCII without characters that control a terminal or are escaped in JSON.
CREATE MACRO IF NOT EXISTS is_plain(text) AS
    strlen(text) = length(text)
    AND strlen(text) <= 1000
    AND NOT contains(text, chr(127))
    AND NOT contains(to_json(text)::VARCHAR, '\');

-- A text of a profile in JSON, at most 1000 characters long. Characters that control a terminal, end a line or change the
-- direction of text become U+FFFD: some readers refuse a file that has them, even escaped. To look for these in every text
-- takes twice as long as all else.
CREATE MACRO IF NOT EXISTS event_text(text) AS
    CASE
        WHEN is_plain(text) THEN to_json(text)::VARCHAR
        ELSE to_json(
            regexp_replace(
                if(length(text) > 1000, left(text, 999) || '…', text),
                '[\x00-\x1f\x7f-\x{9f}\x{61c}\x{200e}\x{200f}\x{2028}\x{2029}\x{202a}-\x{202e}\x{2066}-\x{2069}]',
                '�',
                'g'
            )
        )::VARCHAR
    END;

-- A member of a JSON object, with a comma in front; nothing where the value, as JSON, is NULL.
CREATE MACRO IF NOT EXISTS event_member(name, json) AS if(json IS NULL, '', concat(',"', name, '":', json));

-- A slice of a timeline as JSON, in the Trace Event Format, on the track `place`, with `members` of the object of its details.
-- One concat() copies each part once, || all parts before it.
CREATE MACRO IF NOT EXISTS slice_event(place, after_ns, duration_ns, name, kind, members) AS
    concat(
        '{"ph":"X",', place, ',"ts":"', event_us(after_ns), '","dur":"', event_us(duration_ns), '","name":', name, ',"cat":"',
        kind, '","args":{', members, '}}'
    );

-- A slice of the host, as slice_event(), without members.
CREATE MACRO IF NOT EXISTS host_event(place, after_ns, duration_ns, name, kind) AS
    concat(
        '{"ph":"X",', place, ',"ts":"', event_us(after_ns), '","dur":"', event_us(duration_ns), '","name":', name, ',"cat":"',
        kind, '"}'
    );

-- A point of an arrow of a timeline as JSON: `phase` is s at its start, t on its way and f at its end. Readers tie it to the
-- slice of its track that began last, so in the file it comes behind that slice.
CREATE MACRO IF NOT EXISTS arrow_event(phase, place, after_ns, arrow) AS
    concat(
        '{"ph":"', phase, '",', if(phase = 'f', '"bp":"e",', ''), place, ',"ts":"', event_us(after_ns),
        '","name":"launch","cat":"launch","id":', arrow, '}'
    );
