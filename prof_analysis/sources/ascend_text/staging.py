"""The source `ascend_text`: the files that torch_npu writes with ExportType.Text.

Ops, ranges, links and tasks on the device are in trace_view.json; kernels with their shapes in kernel_details.csv. The id of a
text is made by text_id(), a hash, so all texts of a profile are checked to have different ids.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import compress
from pathlib import Path
from threading import Lock

import duckdb

from prof_analysis.common.errors import reason_of
from prof_analysis.common.input_files import COMMUNICATION_BYTES, whole
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.tables import create_schemas
from prof_analysis.sources.ascend_beside import captures, device_info, folders, profiler_info, recorded, replays
from prof_analysis.sources.ascend_text import columns as text_columns
from prof_analysis.sources.ascend_text import counters, csv_columns, graphs
from prof_analysis.sources.ascend_text.devices import keep_own, with_devices
from prof_analysis.sources.readers.bounds import set_bounds
from prof_analysis.sources.readers.csv_file import copy_columns
from prof_analysis.sources.readers.csv_numbers import Notation, lost_digits, notation_of
from prof_analysis.sources.readers.event_tables import (
    CALLED,
    ID,
    EventTables,
    TextsLock,
    begin_anew,
    create_raw_tables,
    have_equal_ids,
    insert,
)
from prof_analysis.sources.readers.repeated import drop_repeated, remark_of, with_keys
from prof_analysis.sources.remarks import Remark

_I = "BIGINT"
_EVENTS = EventTables(text_columns.EVENT, text_columns.ARGUMENTS, text_columns.BLOCK, text_columns.EVENTS, text_columns.NAMES)

RAW_COLUMNS: Mapping[str, Mapping[str, str]] = {
    **{
        name: {column: _I if type_ == ID else type_ for column, type_ in columns.items()}
        for name, columns in text_columns.TABLES.items()
    },
    device_info.TABLE: device_info.COLUMNS,
    **recorded.COLUMNS,
    **replays.COLUMNS,
}

# Raw table with a key -> the CSV file that it is read from.
_CSV_OF = {"raw.kernel_detail": "kernel_details.csv", "raw.memory_block": folders.OPERATOR_MEMORY}
# Rows of a slice of a table, and columns of its counters, are fewer.
_SLICE_BITS = 32
# Events of a slice of a trace are fewer, and its number leaves room for the order of calls (ordered_id).
_TRACE_BITS = 44
_MOST_COUNTERS = 10_000
# Warnings are in this order: of what lies beside the exports, of each export in turn, and of repeated rows.
_BESIDE, _OF_FILE, _REPEATED = range(3)


def is_trace(path: Path) -> bool:
    """Return whether a file is a list of events, by its name."""
    return path.name.endswith((".json", ".json.gz")) and path.name != recorded.COMMUNICATION and not recorded.is_recorded(path)


# What staging calls: the expressions of columns, times in csv files, and ids of texts. To create all macros takes 50 ms.
_SQL = f"{text_columns.BLOCK} {text_columns.EVENTS} {CALLED} ns_of_us()"


def stage(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    wanted: Mapping[str, frozenset[str]],
    threads: int,
    on_bytes: Callable[[int], None],
) -> list[Remark]:
    """Stage the wanted columns of the raw tables from trace_view.json, kernel_details.csv and the files next to them.

    `on_bytes` gets the size of each piece of a file as it is read. Returns remarks.
    Raises InputError when a file cannot be read.
    """
    create_macros(connection, _SQL)
    captured = [file for file in files if captures.is_of_capture(file, files[0])]
    own = [file for file in files if file not in captured]
    if captured and wanted.keys() & replays.COLUMNS.keys():
        needs = graphs.NEEDS
        wanted = {name: wanted.get(name, frozenset()) | needs.get(name, frozenset()) for name in {*wanted, *needs}}
    wanted = with_keys(with_devices(connection, wanted, RAW_COLUMNS), text_columns.KEYS)
    create_schemas(connection, wanted)
    if device_info.TABLE in wanted:
        device_info.stage_device_info(connection, files)
    of_exports = {name: columns for name, columns in wanted.items() if name in text_columns.TABLES}
    create_raw_tables(connection, of_exports, RAW_COLUMNS)
    has_replays = replays.create_tables(connection, wanted, has_captures=bool(captured))
    texts_lock = Lock() if "raw.string" in wanted else None
    remarks = recorded.stage_recorded(connection, files, wanted, _BESIDE)
    slices = traces = 0
    for number, file in enumerate(own):
        if is_trace(file):
            lost = _EVENTS.stage(connection, file, wanted, texts_lock, threads, on_bytes, traces << _TRACE_BITS)
            traces += 1
            remarks += [Remark((_OF_FILE, "", number, 0), tuple(text_columns.EVENTS), sentence) for sentence in lost]
            continue
        if file.name == recorded.COMMUNICATION:
            groups = wanted.get("raw.communication_group")
            unread = _stage_groups(connection, file, groups, texts_lock) if groups else []
            remarks += [Remark((_OF_FILE, "", number, 0), ("raw.communication_group",), sentence) for sentence in unread]
        elif not device_info.is_device_info(file) and not recorded.is_recorded(file):
            remarks += _stage_csv(connection, file, wanted, texts_lock, number, slices)
            slices += file.name not in csv_columns.CSV_FILES
        on_bytes(file.stat().st_size)
    if has_replays:
        remarks += graphs.stage_replays(connection, captured, stage, RAW_COLUMNS, (_BESIDE, "captures", 0))
    if texts_lock and have_equal_ids(connection):
        begin_anew(connection)
        return stage(connection, files, wanted, threads, on_bytes)
    keep_own(connection, wanted)
    for name in wanted.keys() & text_columns.KEYS.keys():
        count = drop_repeated(connection, name, text_columns.KEYS[name], wanted[name])
        what = _CSV_OF.get(name, "trace_view.json")
        remarks += remark_of((name,), count, what, (_REPEATED, what, 0, 0), files[0].parent)
    set_bounds(connection, profiler_info.recording_of(folders.folder_of(files[0])), wanted, text_columns.CLOCKS)
    return remarks


def _stage_csv(
    connection: duckdb.DuckDBPyConnection,
    file: Path,
    wanted: Mapping[str, frozenset[str]],
    texts_lock: TextsLock,
    number: int,
    slices: int,
) -> list[Remark]:
    """Stage a CSV file; so many of its kind came before it, as slices of the same table."""
    details = wanted.get(csv_columns.CSV_FILES.get(file.name, csv_columns.KERNEL_FILE)[0])
    remarks = _stage_details(connection, file, details, texts_lock, number, slices << _SLICE_BITS) if details else []
    if file.name not in csv_columns.CSV_FILES and wanted.keys() & counters.TABLES.keys():
        insert_rows = partial(insert, connection, texts_lock=texts_lock, names=text_columns.NAMES)
        counters.stage_counters(connection, file, wanted, insert_rows, slices << _SLICE_BITS, slices * _MOST_COUNTERS)
    return remarks


def _stage_details(
    connection: duckdb.DuckDBPyConnection,
    file: Path,
    columns: frozenset[str],
    texts_lock: TextsLock,
    number: int,
    first_row: int,
) -> list[Remark]:
    """Stage a CSV file as a raw table, its rows numbered from `first_row` on; `number` orders its remarks.

    In a column whose digits were cut, times are unknown.
    """
    cells = "stored.detail_cell"
    name, known_as, of_lines = csv_columns.CSV_FILES.get(file.name, csv_columns.KERNEL_FILE)
    headers = {column: names for column, (_, names) in known_as.items() if column in columns}
    remarks = [
        Remark((_OF_FILE, "", number, position), (name,), sentence, of_the_question=True)
        for position, sentence in enumerate(copy_columns(connection, file, headers, cells, of_lines))
    ]
    times = [column for column in headers if column.endswith("_ns")]
    notation = notation_of(connection, cells, times) if times else Notation()
    cut = lost_digits(connection, cells, times, notation)
    remarks += [
        Remark(
            (_OF_FILE, "", number, len(remarks) + position),
            (name,),
            f"{file}: the numbers of the column {headers[column][0]!r} have lost digits, as when a spreadsheet saves them, and "
            "are taken as unknown; export it again",
            of_the_question=True,
        )
        for position, column in enumerate(cut)
    ]
    of_several_lines = _of_several_lines(connection, cells, headers.keys() & of_lines.keys())
    definitions: dict[str, tuple[str, str]] = (
        {"row_number": (_I, f"row_number + {first_row}")} if "row_number" in columns else {}
    )
    for column in headers:
        type_, cell = known_as[column][0], quote(column)
        if type_ == ID:
            value = f"regexp_replace({cell}, '\\s*\\n\\s*', '', 'g')" if column in of_several_lines else cell
        elif column in times:
            value = "NULL::BIGINT" if column in cut else notation.time_ns(cell)
        else:
            value = f"TRY_CAST({notation.number(cell)} AS {type_})"
        definitions[column] = (type_, value)
    insert(connection, cells, {name: (definitions, "true")}, texts_lock, text_columns.NAMES)
    connection.execute(f"DROP TABLE {cells}")
    return remarks


def _of_several_lines(connection: duckdb.DuckDBPyConnection, table: str, columns: Iterable[str]) -> list[str]:
    """Return the columns that have cells of several lines."""
    sought = sorted(columns)
    counts = ", ".join(f"count(*) FILTER (contains({quote(column)}, chr(10)))" for column in sought)
    (found,) = connection.execute(f"SELECT {counts} FROM {table}").fetchall() if sought else [()]
    return list(compress(sought, found))


def _stage_groups(
    connection: duckdb.DuckDBPyConnection, file: Path, columns: frozenset[str], texts_lock: TextsLock
) -> list[str]:
    """Stage the group of each communication operator: communication.json names it after the operator, as in name@group."""
    try:
        steps = json.loads(whole(file, COMMUNICATION_BYTES).decode("utf-8", "replace"))
        kinds = [step.get(kind, ()) for step in steps.values() for kind in ("p2p", "collective")]
        names = [name for kind in kinds for name in kind if "@" in name]
    except (OSError, ValueError, RecursionError, AttributeError, TypeError) as error:
        return [f"{file}: cannot be read ({reason_of(error)}), so groups may be unknown; export it again"]
    connection.execute("CREATE TABLE stored.group_cell AS SELECT unnest($names::VARCHAR[]) AS name", {"names": names})
    definitions = {
        "operator": (ID, "regexp_extract(name, '^(.*)@', 1)"),
        "group_name": (ID, "regexp_extract(name, '@([^@]*)$', 1)"),
    }
    of_table = {column: definition for column, definition in definitions.items() if column in columns}
    insert(connection, "stored.group_cell", {"raw.communication_group": (of_table, "true")}, texts_lock, text_columns.NAMES)
    connection.execute("DROP TABLE stored.group_cell")
    return []
