"""A trace is read event by event, whoever wrote it and however it was broken: nothing whole is lost, what is lost is said."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prof_analysis import InputError
from prof_analysis.engine.database import connect
from prof_analysis.sources.readers import trace_file
from prof_analysis.sources.readers.trace_json import read_events
from tests.helpers.slow import quick

Event = dict[str, Any]
Read = Callable[..., tuple[list[Event], list[str]]]

STRUCTURE = json.dumps(
    {
        "ph": "VARCHAR",
        "name": "VARCHAR",
        "pid": "BIGINT",
        "ts": "VARCHAR",
        "dur": "VARCHAR",
        "id": "VARCHAR",
        "args": {"level": "VARCHAR", "connection_id": "BIGINT"},
    }
)
# What looks like the border of two events, like the begin of one, or like a number that has to become text.
NASTY_TEXTS = [
    "}, {",
    "}, {}",
    '}, {"',
    '{"ph": "X"}',
    "\\",
    '"',
    "]",
    ",]",
    '"ts": 5',
    "a\r\nb\tc",
    "\x00",
    "é😀\u2028",
    "x" * 70,
]


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: without_nulls(one) for key, one in value.items() if one is not None}
        return {key: one for key, one in kept.items() if one != {}}
    return value


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    """Write a file and read its events back, without what they lack."""
    connection = connect(threads=2)
    folder = tmp_path_factory.mktemp("trace")

    def read_back(content: bytes, name: str = "trace_view.json") -> tuple[list[Event], list[str]]:
        path, sizes = folder / name, list[int]()
        events: list[Event] = []
        path.write_bytes(content)

        def take(cursor: duckdb.DuckDBPyConnection) -> None:
            rows = cursor.execute("SELECT event FROM event_block ORDER BY event_id").fetchall()
            events.extend(without_nulls(row[0] or {}) for row in rows)

        warnings = read_events(connection, path, STRUCTURE, "FROM event", take, sizes.append)
        assert sum(sizes) == len(content)
        assert all(warning.startswith(f"{path}: ") for warning in warnings)
        return events, [warning.removeprefix(f"{path}: ") for warning in warnings]

    yield read_back
    connection.close()


@pytest.fixture(params=["whole", "in small pieces"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "in small pieces":
        monkeypatch.setattr(trace_file, "CHUNK_BYTES", 50)
        monkeypatch.setattr(trace_file, "_BLOCK_BYTES", 300)


def events_named(*names: str) -> list[Event]:
    return [{"ph": "X", "name": name, "pid": number} for number, name in enumerate(names)]


def lost(content: bytes, warnings: list[str]) -> int:
    """How many bytes of a content are lost, as the warning says."""
    found = re.search(r"([\d,]+) of ([\d,]+) bytes \([\d.]+%\) hold no whole event", warnings[0])
    assert found is None or int(found[2].replace(",", "")) == len(content)
    return int(found[1].replace(",", "")) if found else 0


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize(
    "layout",
    [
        json.dumps,
        lambda events: json.dumps(events, separators=(",", ":"), ensure_ascii=False),
        lambda events: json.dumps(events, indent=4),
        lambda events: json.dumps(events, indent="\t").replace("\n", "\r\n"),
        lambda events: "\ufeff \n" + json.dumps(events) + "\n\n",
        lambda events: "[" + "\n,".join(json.dumps(event) for event in events) + "\n]",
    ],
    ids=["one line", "compact", "pretty", "tabs and CRLF", "BOM", "comma first"],
)
def test_names_of_any_kind_in_any_layout(layout: Callable[[list[Event]], str], read: Read) -> None:
    events = events_named(*NASTY_TEXTS)
    assert read(layout(events).encode()) == (events, [])


BEFORE_THE_LIST = [
    {},
    {"displayTimeUnit": "ns", "a": [], "b": {"traceEvents": [{"ph": "no"}]}, "c": 'traceEvents": [{"ph', "d": "\\" * 3},
]
AFTER_THE_LIST: list[dict[str, Any]] = [
    {},
    {"metadata": {"a": [1]}, "b": [{"id": 1}, {"id": 2}], "c": [1]},
    {"stackFrames": [{"n": number} for number in range(300)]},
]


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", quick(["trace_view.json", "trace_view.json.gz"], 0))
@pytest.mark.slow
def test_an_object_with_the_list_as_trace_viewers_save_it_is_read_as_the_list_is(
    indent: int | None, name: str, read: Read
) -> None:
    events = events_named(*NASTY_TEXTS)
    for before in BEFORE_THE_LIST:
        for after in AFTER_THE_LIST:
            for some in (events, []):
                content = json.dumps({**before, "traceEvents": some, **after}, indent=indent).encode()
                assert read(gzip.compress(content) if name.endswith("gz") else content, name) == (some, [])


@pytest.mark.slow
@pytest.mark.usefixtures("size")
def test_an_object_that_breaks_off_gives_all_events_that_are_whole(read: Read) -> None:
    events = events_named(*NASTY_TEXTS)
    whole = json.dumps({"traceEvents": events, "metadata": {"a": [{"b": 1}, {"c": 2}]}}).encode()
    end = whole.index(b', "metadata"')
    for at in (*range(whole.index(b"[") + 1, end, 61), *range(end - 1, len(whole), 9)):
        found, warnings = read(whole[:at])
        assert found == events[: len(found)]
        assert (len(found) == len(events), bool(warnings)) == (at >= end - 1, at < end), at


@pytest.mark.usefixtures("size")
def test_events_behind_what_only_looks_like_the_end_of_the_list_are_not_lost(read: Read) -> None:
    inner = '{"ph": "X", "args": {"stack": [{"ph": "X"}], "more": 1}, rubbish}'
    later = [json.dumps(event) for event in events_named(*"abcdef")]
    found, warnings = read(f'{{"traceEvents": [{inner}, {", ".join(later)}]}}'.encode())
    assert [event["name"] for event in found if "name" in event] == list("abcdef")
    assert "hold no whole event" in warnings[0]


@pytest.mark.usefixtures("size")
def test_lists_of_objects_inside_events_are_no_events(read: Read) -> None:
    events = [{**event, "stack": [{"a": 1}, {"b": 2}, {}, {"a": 1}]} for event in events_named(*"abcdef")]
    assert read(json.dumps(events).encode()) == (events_named(*"abcdef"), [])


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("1736408883688177.930", "1736408883688177.930"),
        ('"1736408883688177.930"', "1736408883688177.930"),
        ("1736408883688177", "1736408883688177"),
        ("1.736408883688177930e15", "1.736408883688177930e15"),
        ("-5.5", "-5.5"),
        ("NaN", "NaN"),
        ("null", None),
    ],
)
def test_every_digit_of_a_time_stamp_is_kept(written: str, text: str | None, read: Read) -> None:
    content = f'[{{"ph": "X", "ts": {written}, "dur": 145.57, "id": 1736408883688177930}}, {{"ph": "X", "ts":{written} }}]'
    first = {"ph": "X", "dur": "145.57", "id": "1736408883688177930"}
    stamp = {"ts": text} if text else {}
    assert read(content.encode()) == ([{**first, **stamp}, {"ph": "X", **stamp}], [])


@pytest.mark.parametrize("quote", ["", '"'], ids=["numbers", "texts"])
def test_time_stamps_of_any_size_are_those_of_the_file_whether_numbers_or_texts(quote: str, read: Read) -> None:
    make = random.Random(1)
    of_sizes = [[make.randrange(2 ** (bits - 1), 2**bits) for _ in range(8)] for bits in (1, 20, *range(41, 47), 50, 54, 57)]
    # A file for each size, since digits that one time stamp may lose change how the others are read.
    for numbers in (*of_sizes, [8796093022207], [8796093022208], [10**15]):
        stamps = [f"{number}.{decimals}" for number in numbers for decimals in ("0", "7", "93", "001", "999")]
        content = ", ".join(f'{{"ph": "X", "ts": {quote}{stamp}{quote}}}' for stamp in stamps)
        found, warnings = read(f"[{content}]".encode())
        assert [Decimal(event["ts"]) for event in found] == [Decimal(stamp) for stamp in stamps]
        assert warnings == []


def test_digits_are_kept_from_the_block_on_in_which_one_could_be_lost(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "CHUNK_BYTES", 50)
    monkeypatch.setattr(trace_file, "_BLOCK_BYTES", 300)
    stamps = ["5.123"] * 50 + ["8796093022208.123"] * 50 + ["1736408883688177.123", "5.123"] * 50
    content = ", ".join(f'{{"ph": "X", "ts": {stamp}}}' for stamp in stamps)
    assert [event["ts"] for event in read(f"[{content}]".encode())[0]] == stamps


@pytest.mark.parametrize(
    ("end", "says"),
    [("]", []), (",]", []), (" , ] \n", []), ("", ["not closed"]), (",", ["not closed"]), ("\n", ["not closed"])],
)
def test_a_list_ends_as_writers_leave_it(end: str, says: list[str], read: Read) -> None:
    events = events_named("a", "b")
    found, warnings = read((json.dumps(events)[:-1] + end).encode())
    assert found == events
    assert len(warnings) == len(says)
    assert all(word in warning for word, warning in zip(says, warnings, strict=True))


@pytest.mark.parametrize("content", ["[]", " [ \n ] ", "\ufeff[]"])
def test_a_list_without_events_is_no_error(content: str, read: Read) -> None:
    assert read(content.encode()) == ([], [])


_NO_LIST = "holds a JSON object without a list traceEvents"


# No time of packing in the bytes: they name the cases, and each test process has to give them the same names.
@pytest.mark.parametrize(
    ("content", "name", "says"),
    [
        (b"", "trace_view.json", "is empty; export the profile again"),
        (b"  \n", "trace_view.json", "holds no list of events"),
        (
            b'{"a": {"traceEvents": []}, "b": "traceEvents"}',
            "trace_view.json",
            "holds a JSON object without a list traceEvents",
        ),
        (b'{"traceEvents": null}', "trace_view.json", _NO_LIST),
        (b'{"a": "[{', "trace_view.json", _NO_LIST),
        (b"null", "trace_view.json", "holds no list of events"),
        ('[{"ph": "X"}]'.encode("utf-16"), "trace_view.json", "holds no list of events"),
        (gzip.compress(b"[]", mtime=0), "trace_view.json", "holds no list of events"),
        (b"", "trace_view.json.gz", "is empty"),
        (gzip.compress(b"", mtime=0), "trace_view.json.gz", "is empty"),
        (b"[]", "trace_view.json.gz", r"cannot be unpacked \(Not a gzipped file"),
        (gzip.compress(b"[]", mtime=0)[:10], "trace_view.json.gz", r"cannot be unpacked \(Compressed file ended"),
    ],
)
def test_what_is_no_trace_is_one_error(content: bytes, name: str, says: str, read: Read) -> None:
    with pytest.raises(InputError, match=rf"{name}: {says}"):
        read(content, name)


def test_a_file_that_is_gone_is_one_error(tmp_path: Path) -> None:
    with connect() as connection, pytest.raises(InputError, match=r"gone\.json: cannot be read \(No such file"):
        read_events(connection, tmp_path / "gone.json", STRUCTURE, "FROM event", lambda _: None, lambda _: None)


def test_without_an_event_end_in_sight_the_file_is_given_up(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "_BLOCK_BYTES", 2**10)
    monkeypatch.setattr(trace_file, "MAX_EVENT_BYTES", 2**12)
    with pytest.raises(InputError, match="no event ends in the"):
        read(b'[{"ph": "X"}, {"name": "' + bytes(2**14))


@pytest.mark.usefixtures("size")
def test_a_packed_trace_is_read_as_is(read: Read) -> None:
    events = events_named(*map(str, range(50)))
    packed = [gzip.compress(half) for half in (json.dumps(events)[:777].encode(), json.dumps(events)[777:].encode())]
    assert read(b"".join(packed), "trace_view.json.gz") == (events, [])


def test_a_packed_trace_that_was_cut_off_gives_all_that_unpacks(read: Read) -> None:
    words = random.Random(1)
    events = events_named(*(str(words.random()) for _ in range(3000)))
    packed = gzip.compress(json.dumps(events).encode())
    found, (warning,) = read(packed[: len(packed) // 2], "trace_view.json.gz")
    assert 1000 < len(found) < 2000
    assert found == events[: len(found)]
    assert "cannot be unpacked beyond" in warning
    assert "later events are missing" in warning


@pytest.mark.usefixtures("size")
def test_bytes_and_escapes_that_are_no_text_are_replaced(read: Read) -> None:
    content = rb'[{"ph": "X", "name": "a' + b"\xff\xfe" + rb'b"}, {"ph": "X", "name": "\udcff \ud83d\ude00 \\ud800 \ud83d"}]'
    names = ["a\ufffd\ufffdb", "\ufffd 😀 \\ud800 \ufffd"]
    assert read(content) == ([{"ph": "X", "name": name} for name in names], [])


def test_values_of_another_kind_are_unknown_or_text(read: Read) -> None:
    content = """[
        {"ph": "X", "pid": "Kernel", "ts": NaN, "dur": Infinity}, {"ph": "X", "pid": "15", "name": 1.5, "args": [1, 2]},
        {"ph": "X", "pid": 18446744073709551615, "args": {"connection_id": 1e400, "level": {"a": [1, null]}}},
        {"ph": "X", "ph": "M", "args": {"level": "first", "level": "second"}, "args": null}, 5, "text", null, [1], {"ph": "M"}
    ]"""
    found, warnings = read(content.encode())
    assert warnings == []
    assert [event for event in found if event] == [
        {"ph": "X", "ts": "NaN", "dur": "Infinity"},
        {"ph": "X", "pid": 15, "name": "1.5"},
        {"ph": "X", "args": {"level": '{"a":[1,null]}'}},
        {"ph": "X", "args": {"level": "first"}},
        {"ph": "M"},
    ]


def test_deep_nesting_and_long_texts_are_no_limit(read: Read) -> None:
    deep, long = "[" * 50_000 + "]" * 50_000, "n" * 5_000_000
    content = f'[{{"ph": "X", "args": {{"stack": {deep}}}}}, {{"ph": "X", "name": "{long}"}}, {{"ph": "M"}}]'
    assert read(content.encode()) == ([{"ph": "X"}, {"ph": "X", "name": long}, {"ph": "M"}], [])
    assert read(b'[{"ph": "M"}, {"ph": "X", "args": ' + b'{"a": [' * 50_000)[0] == [{"ph": "M"}]


_TEXTS = st.one_of(st.sampled_from(NASTY_TEXTS), st.text(max_size=8))
_ARGUMENTS = st.recursive(_TEXTS | st.integers() | st.none(), lambda inner: st.lists(inner, max_size=3), max_leaves=5)
_EVENTS = st.lists(
    st.fixed_dictionaries(
        {"ph": st.sampled_from("XMsf"), "name": _TEXTS},
        optional={"pid": st.integers(0, 2**32), "ts": st.decimals(0, 10**16, places=3), "other": st.lists(_ARGUMENTS)},
    ),
    max_size=20,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    events=_EVENTS,
    chunk=st.sampled_from([1, 40, 2**20]),
    block=st.sampled_from([10, 150, 2**24]),
    indent=st.sampled_from([None, 1]),
    is_ascii=st.booleans(),
    seed=st.integers(0, 99),
)
@pytest.mark.slow
def test_random_events_read_back_equal(
    events: list[Event],
    chunk: int,
    block: int,
    indent: int | None,
    is_ascii: bool,
    seed: int,
    read: Read,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trace_file, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(trace_file, "_BLOCK_BYTES", block)
    space = random.Random(seed)
    parts = [json.dumps(event, indent=indent, ensure_ascii=is_ascii, default=str) for event in events]
    borders = [space.choice([",", ", ", " ,\n", ",\r\n\t"]) for _ in parts]
    content = "[" + "".join(part + border for part, border in zip(parts, borders, strict=True)).rstrip(", \r\n\t") + "]"
    known = ("ph", "name", "pid", "ts")
    expected = [{key: str(event[key]) if key == "ts" else event[key] for key in known if key in event} for event in events]
    assert read(content.encode("utf-8", "surrogatepass")) == (expected, [])


def test_what_is_lost_of_a_broken_list_is_counted(read: Read) -> None:
    def broken(content: bytes) -> tuple[list[str], int]:
        found, warnings = read(content)
        return [event.get("name", "") for event in found], lost(content, warnings)

    assert broken(b'[{"ph": "X", "name": "a"}, {"ph": "X", "name": "b') == (["a"], 22)
    assert broken(b'[{"ph": "X", "name": "a"}][{"ph": "X", "name": "b"}]') == (["a", "b"], 2)
    assert broken(b'[{"ph": "X", "args": {"level": "", {"ph": "X", "name": "b"}]') == (["b"], 32)
    assert broken(b'[{"ph": "X", "name": "a\nb"}, {"ph": "X", "name": "c"}]') == (["c"], 26)
    assert broken(b'[{"ph": "X", "name": "a"}, rubbish, {"ph": "X", "name": "c"}]') == (["a", "c"], 7)


@pytest.mark.parametrize("shift", ["", "x"])
def test_a_broken_event_of_wide_characters_costs_only_itself(shift: str, read: Read) -> None:
    broken = f'{{"ph": "X", "tid" 2, "name": "{shift}{"é" * 500}"}}'
    content = f'[{broken}, {{"ph": "X", "name": "whole"}}]'.encode()
    found, warnings = read(content)
    assert found == [{"ph": "X", "name": "whole"}]
    assert lost(content, warnings) == len(broken.encode())


def in_time(seconds: float, task: Callable[[], object]) -> str:
    """What a task raises, run where a hang of it fails the test and not the run of all tests."""
    raised: list[str] = []

    def run() -> None:
        try:
            task()
        except Exception as error:  # of any kind, since what it is is the test's
            raised.append(str(error))

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), f"not done within {seconds} s"
    return "".join(raised)


def test_a_block_that_cannot_be_taken_ends_the_reading_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "_BLOCK_BYTES", 300)
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(events_named(*map(str, range(200)))))

    def take(_: duckdb.DuckDBPyConnection) -> None:
        raise duckdb.OutOfMemoryException("no memory")

    with connect() as connection:
        for threads in (1, 2):
            reading = partial(read_events, connection, path, STRUCTURE, "FROM event", take, lambda _: None, threads)
            assert in_time(20, reading) == "no memory"


@pytest.mark.parametrize(
    "text",
    ['{"ph": "X", "tid" 2, "args": {"a": [1, 2]}}, ' * 20_000, '{"a":[' * 300 + "1," * 500_000],
    ids=["each event broken", "nothing closed"],
)
def test_a_damaged_part_is_searched_in_a_time_that_grows_with_its_length(text: str, read: Read) -> None:
    content = f'[{text}{{"ph": "X", "name": "whole"}}]'.encode()
    results: list[tuple[list[Event], list[str]]] = []
    assert in_time(20, lambda: results.append(read(content))) == ""
    assert results[0][0] == [{"ph": "X", "name": "whole"}]
    assert lost(content, results[0][1])


def a_trace(seed: int) -> tuple[bytes, list[tuple[int, int]], list[Event]]:
    """A trace, where each of its events with what separates it from others begins and ends, and the events."""
    make = random.Random(seed)
    events = []
    for number in range(make.randrange(2, 30)):
        event: Event = {"ph": make.choice("XMsf"), "name": make.choice(NASTY_TEXTS) + str(number), "pid": number}
        if make.random() < 0.5:
            event["args"] = {"level": make.choice(NASTY_TEXTS), "more": make.choice([{}, [{"a": 1}, {"b": "}, {"}]])}
        events.append(event)
    indent = make.choice([None, None, 1])
    parts = [json.dumps(event, indent=indent, ensure_ascii=make.random() < 0.5).encode() for event in events]
    ends = [1]
    for part in parts:
        ends.append(ends[-1] + len(part) + 2)
    for event in events:
        event.get("args", {}).pop("more", None)
    spans = [(begin - 2, end) for begin, end in pairwise(ends)]
    return b"[" + b", ".join(parts) + b"]", spans, [without_nulls(event) for event in events]


def check_cut(seed: int, read: Read) -> None:
    content, spans, events = a_trace(seed)
    at = random.Random(seed).randrange(1, len(content))
    found, warnings = read(content[:at])
    assert found == [event for event, (_, end) in zip(events, spans, strict=True) if end - 2 <= at]
    assert "not closed" in warnings[0] or lost(content[:at], warnings)


def check_broken(seed: int, read: Read) -> None:
    """One byte too few, too many or another one: all events that it does not touch are there, and no loss is silent."""
    content, spans, events = a_trace(seed)
    make = random.Random(seed)
    at, byte = make.randrange(1, len(content)), bytes([make.choice(b'{}[]",:\\\x00\xff ')])
    removed, inserted = make.choice([(1, b""), (0, byte), (1, byte), (make.randrange(200), b"")])
    found, warnings = read(content[:at] + inserted + content[at + removed :])
    untouched = [event for event, (begin, end) in zip(events, spans, strict=True) if end <= at or begin >= at + removed]
    assert [event for event in found if event in untouched] == untouched
    assert warnings or len(found) >= len(events) or removed > 1


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("check", [check_cut, check_broken])
def test_a_damaged_trace_gives_all_that_is_whole(check: Callable[[int, Read], None], read: Read) -> None:
    for seed in range(4):
        check(seed, read)


@pytest.mark.slow
@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("check", [check_cut, check_broken])
def test_many_damaged_traces(check: Callable[[int, Read], None], read: Read) -> None:
    for seed in range(500):
        check(seed, read)
