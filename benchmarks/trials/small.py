"""Damages of the small files beside the exports of Ascend: metadata, logs, tables of sums, what fed the device, and tables that
msprof-analyze wrote."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from benchmarks.trials.registry import damage

Said = str | None


def _result(folder: Path) -> Path | None:
    """Return the first result of torch_npu, or of MindSpore."""
    return min(folder.rglob("*_ascend_[pm][ts]"), default=None)


def _beside(folder: Path, name: str, text: str) -> Said:
    """Write a file beside the exports of the first result."""
    result = _result(folder)
    if result is None or not (result / "ASCEND_PROFILER_OUTPUT").is_dir():
        return None
    (result / "ASCEND_PROFILER_OUTPUT" / name).write_text(text, encoding="utf-8")
    return f"{name} with {text[:30]!r} ..."


@damage("ascend_db", "ascend_text")
def a_hostile_key_of_the_user(folder: Path) -> Said:
    """Add keys to profiler_metadata.json that would steer a terminal, a page, a spreadsheet or a query."""
    result = _result(folder)
    file = result and result / "profiler_metadata.json"
    if not file or not file.is_file():
        return None
    content = json.loads(file.read_bytes())
    content |= {"\x1b[2J": "x", "<script>": "alert(1)", "=cmd()": "'; DROP TABLE a; --", "many": ["x" * 1000] * 100, "n": None}
    file.write_text(json.dumps(content), encoding="utf-8")
    return "profiler_metadata.json with hostile keys"


@damage("ascend_db", "ascend_text")
def a_log_of_errors(folder: Path) -> Said:
    """Put a log of errors into the folder logs, which ends in the middle of a line."""
    result = _result(folder)
    if result is None:
        return None
    (result / "logs").mkdir(exist_ok=True)
    lines = ["[t] [ERROR] [A:1] Failed to get acl to npu flow events.", "[t] [ERROR] [A:1] \x1b[2J <script>", "[t] [ERR"]
    (result / "logs" / "profiler_20260101000000_7.log").write_text("\n".join(lines), encoding="utf-8")
    return "a log with two errors"


@damage("ascend_text")
def host_calls_cut(folder: Path) -> Said:
    """Cut the table of the sums of host calls."""
    file = min(folder.rglob("api_statistic.csv"), default=None)
    if file is None:
        return None
    os.truncate(file, file.stat().st_size // 2)
    return "api_statistic.csv cut in half"


@damage("ascend_db", "ascend_text")
def an_input_pipeline_cut(folder: Path) -> Said:
    """Put the cut table of an input pipeline beside the exports."""
    return _beside(folder, "minddata_pipeline_raw_0.csv", 'op_id,op_type,output_queue_size\n1,BatchOp,"[1, 2, 0')


@damage("ascend_db", "ascend_text")
def a_static_memory_of_nothing(folder: Path) -> Said:
    """Put a table of planned memory beside the exports whose sizes and nodes are impossible."""
    rows = "Op Name,Node Index Start,Node Index End,Size(KB)\na,1,2,-5\nb,1e99,x,1e99\n,,,\nTOTAL,9,1,\n"
    return _beside(folder, "static_op_mem.csv", rows)


# A table of cluster_analysis.db is read where somebody asks for it.
_PEER = ("table msprof_analyze.SlowRank -d",)


def _of_peer(folder: Path) -> Path:
    """Write a cluster_analysis.db as msprof-analyze does, with a table of many rows."""
    file = folder / "cluster_analysis_output" / "cluster_analysis.db"
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE SlowRank (rankId INTEGER, slowAffectCount INTEGER)")
        database.executemany("INSERT INTO SlowRank VALUES (?, ?)", ((number, 7 * number) for number in range(5000)))
    return file


@damage("ascend_db", asked=_PEER)
def tables_of_msprof_analyze_cut(folder: Path) -> Said:
    """Cut a database of msprof-analyze in half."""
    file = _of_peer(folder)
    os.truncate(file, file.stat().st_size // 2)
    return "cluster_analysis.db cut in half"


@damage("ascend_db", asked=_PEER)
def tables_of_msprof_analyze_garbled(folder: Path) -> Said:
    """Overwrite the pages of rows of a database of msprof-analyze."""
    file = _of_peer(folder)
    content = file.read_bytes()
    file.write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))
    return "cluster_analysis.db with pages of garbage"


@damage("ascend_db", asked=_PEER)
def tables_of_msprof_analyze_of_odd_cells(folder: Path) -> Said:
    """Put cells of other types into a table of msprof-analyze, and a table with a hostile name beside it."""
    file = _of_peer(folder)
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE SlowRank SET slowAffectCount = CAST(x'00ff1b5b324a' AS BLOB) WHERE rankId % 2")
        database.execute("UPDATE SlowRank SET rankId = 'x' || char(27) || '[2J' WHERE rankId % 3 = 0")
        database.execute("""CREATE TABLE "a""; DROP TABLE trace.kernel; --" ("=cmd()" TEXT)""")
    return "cluster_analysis.db with cells of other types and a hostile name"


@damage("ascend_db", asked=_PEER)
def no_tables_of_msprof_analyze(folder: Path) -> Said:
    """Put an empty file where the database of msprof-analyze is."""
    _of_peer(folder).write_bytes(b"")
    return "an empty cluster_analysis.db"
