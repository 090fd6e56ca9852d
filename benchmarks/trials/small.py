"""Damages of the small files beside the exports of Ascend: metadata, logs, tables of sums, and what fed the device."""

import json
import os
from pathlib import Path

from benchmarks.trials.registry import damage

Said = str | None


def _result(folder: Path) -> Path | None:
    """Return the first result of torch_npu."""
    return min(folder.rglob("*_ascend_pt"), default=None)


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
