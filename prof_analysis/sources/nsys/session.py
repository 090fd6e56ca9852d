"""Reads what a database of Nsight Systems says of its session: when it began and ended, on which host."""

from prof_analysis.sources.identity import FIRST_MOMENT_NS
from prof_analysis.sources.nsys.tables import CALLS, RANGES, WORK
from prof_analysis.sources.readers.bounds import Recording, known_recording
from prof_analysis.sources.readers.sqlite_file import SqliteFile, query


def base_time(file: SqliteFile) -> int:
    """Return what to add to times for Unix ns: the begin of the session; 0 where it is not known, or times are absolute."""
    for table in (*WORK, RANGES, CALLS):
        if "start" in file.tables.get(table, {}):
            rows = query(file, f"SELECT start FROM {table} WHERE typeof(start) = 'integer' LIMIT 1")
            if rows and int(str(rows[0][0])) >= FIRST_MOMENT_NS:  # Exported with --ts-normalize=true.
                return 0
    begin = _only(file, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs")
    return begin if isinstance(begin, int) and 0 <= begin < 2**62 else 0


def recording_of(file: SqliteFile) -> Recording | None:
    """Return the time that was recorded; None where the file does not say it."""
    base, length = base_time(file), _only(file, "ANALYSIS_DETAILS", "duration")
    return known_recording(base, base + length) if base and isinstance(length, int) and 0 < length < 2**60 else None


def host_of_session(file: SqliteFile) -> str | None:
    """Return the name of the host."""
    if not {"name", "value"} <= file.tables.get("TARGET_INFO_SYSTEM_ENV", {}).keys():
        return None
    names = {row[0] for row in query(file, "SELECT DISTINCT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'")}
    (name,) = names if len(names) == 1 else (None,)
    return name if isinstance(name, str) and name else None


def _only(file: SqliteFile, table: str, column: str) -> object:
    """Return the value of a column of a table of one row; None where the file has no such row."""
    if column not in file.tables.get(table, {}):
        return None
    rows = query(file, f"SELECT {column} FROM {table} LIMIT 2")
    return rows[0][0] if len(rows) == 1 else None
