"""The profiles of the trials: the sample, generated ones, and the real ones where they are here."""

import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from benchmarks.answers import HARD, REAL
from benchmarks.jobs import CHECKOUT
from benchmarks.trials.registry import Kind
from fixtures.generate import generate
from fixtures.kineto_export import export_kineto
from fixtures.nsys_export import export_run
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from tests.helpers.snapshots import busy_device, snapshot, write

KINDS_OF_EXPORTS: Mapping[Literal["db", "text"], Kind] = {"db": "ascend_db", "text": "ascend_text"}
# A folder that holds results of several kinds or runs is none itself; these hold no profile.
NO_PROFILES = ("expected", "vllm_ascend_log", "capture_traces", "perf_csvs")


@dataclass(frozen=True)
class Subject:
    """A profile by its name; `make` writes it where it is generated.

    `warns` matches the warnings that it gives untouched, because its recording lacks something.
    """

    name: str
    kind: Kind
    path: Path
    make: Callable[[Path], object] | None = None
    warns: str = r"(?!)"


# What untouched real profiles say, each with what is true of it.
FEWER = r"ranks of the job (is|are) here"
WARNS = {
    "alexnet_ddp_910b_mstx": FEWER,  # two ranks of a group of eight, by its groups
    "alexnet_ddp_910b/db": FEWER,
    "gpu_kineto": rf"{FEWER}|these are two recordings",  # traces of several models, some of them of a job of eight
    "gpu_more": FEWER,  # one rank of eight or sixteen
    "serving": rf"in which the device is idle|{FEWER}",  # begins long before its only pass
}


def subjects(made: Path) -> list[Subject]:
    """Return all profiles; generated ones are to be written below a folder."""
    sample = Subject("sample", "ascend_db", CHECKOUT / "fixtures" / "sample" / "decoder_training")
    generated = [
        Subject(f"{name}_{exports}", kind, made / f"{name}_{exports}", partial(_write, HARD[name], exports))
        for exports, kind in KINDS_OF_EXPORTS.items()
        for name in ("training", "inference")
    ]
    traces = Subject("training_trace", "kineto", made / "training_trace", _write_traces)
    mindspore = Subject("training_mindspore", "ascend_db", made / "training_mindspore", _write_mindspore)
    snapshots = Subject("snapshots", "memory_snapshot", made / "snapshots", _write_snapshots)
    # Kernels of the NPU have names that say nothing on a GPU.
    unknown = "no rule knows this name"
    database = Subject("training_nsys", "nsys", made / "training_nsys", _write_nsys, warns=unknown)
    return [sample, *generated, mindspore, traces, snapshots, database, *_real()]


def _write(shape: Shape, exports: Literal["db", "text"], folder: Path) -> None:
    generate(folder, shape, ranks=2, seed=3, style=TextStyle(exports=exports))


def _write_traces(folder: Path) -> None:
    shape = Shape(task_queue=False, schedule_kernels=False, nn_module_ranges="instead", gradient_hooks=True)
    with TemporaryDirectory() as npu:
        generate(Path(npu), shape, ranks=2)
        for rank, db in enumerate(sorted(Path(npu).rglob("ascend_pytorch_profiler_*.db"))):
            export_kineto(db, folder / f"rank{rank}.json.gz", rank, 2)


def _write_mindspore(folder: Path) -> None:
    """Write results under the names that MindSpore gives."""
    generate(folder, HARD["training"], ranks=2, seed=3)
    for database in list(folder.rglob("ascend_pytorch_profiler_*.db")):
        database.rename(database.with_name(database.name.replace("pytorch", "mindspore")))
    for result in list(folder.rglob("*_ascend_pt")):
        result.rename(result.with_name(result.name.replace("_ascend_pt", "_ascend_ms")))


def _write_snapshots(folder: Path) -> None:
    for rank in range(2):
        write(folder / f"rank{rank}_snapshot.pickle", snapshot(busy_device(rounds=5)))


# Memory, samples and nodes of graphs, beside the kernels of an exported run.
_MORE_OF_NSYS = """
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS AS
SELECT start - 10 AS start, globalPid, deviceId, contextId, rowid % 64 AS address, 4096 AS bytes, 2 AS memKind,
    rowid / 64 % 2 AS memoryOperationType, correlationId
FROM CUPTI_ACTIVITY_KIND_KERNEL;
CREATE TABLE GPU_METRICS AS
SELECT start AS timestamp, 256 + deviceId AS typeId, 1 + rowid % 2 AS metricId, rowid % 100 AS value
FROM CUPTI_ACTIVITY_KIND_KERNEL;
CREATE TABLE TARGET_INFO_GPU_METRICS AS
SELECT DISTINCT typeId, metricId, 'Metric ' || metricId || ' [Throughput %]' AS metricName
FROM GPU_METRICS;
UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphId = 7, graphNodeId = 1000000 + rowid WHERE rowid % 10 = 0;
CREATE TABLE CUDA_GRAPH_NODE_EVENTS AS
SELECT call.start AS start, call.globalTid AS globalTid, kernel.graphNodeId - 1000000 AS graphNodeId,
    NULL AS originalGraphNodeId
FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernel
JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS call USING (correlationId)
WHERE kernel.graphNodeId IS NOT NULL;
INSERT INTO CUDA_GRAPH_NODE_EVENTS
SELECT start + 1, globalTid, graphNodeId + 1000000, graphNodeId
FROM CUDA_GRAPH_NODE_EVENTS;
"""


def _write_nsys(folder: Path) -> None:
    shape = Shape(task_queue=False, schedule_kernels=False, nn_module_ranges="instead", gradient_hooks=True)
    with TemporaryDirectory() as npu:
        generate(Path(npu), shape, ranks=2)
        database = export_run(Path(npu), folder / "report.sqlite")
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(_MORE_OF_NSYS)


def _real() -> list[Subject]:
    found: dict[Path, Kind] = {}
    for file in sorted(REAL.rglob("*")):
        if not file.is_file() or any(part in NO_PROFILES for part in file.relative_to(REAL).parts):
            continue
        if re.match(r"ascend_pytorch_profiler.*\.db$", file.name):
            found[_run_of(file)] = "ascend_db"
        elif file.name in ("trace_view.json", "kernel_details.csv"):
            found.setdefault(_run_of(file), "ascend_text")
        elif file.suffix == ".csv" and file.parent.name.endswith("_vllm_a3"):
            found[file] = "ascend_text"
        elif file.name.endswith(".json.gz"):
            found[file.parent] = "kineto"
        elif file.suffix == ".pickle":
            found[file.parent] = "memory_snapshot"
        elif file.suffix == ".sqlite":
            found[file] = "nsys"
    return [Subject(name := str(path.relative_to(REAL)), kind, path, None, _warns(name)) for path, kind in found.items()]


def _run_of(file: Path) -> Path:
    """Return the folder of the run whose rank a file is of: of the ranks, or of the file if it lies alone."""
    rank = next((parent for parent in file.parents if parent.name.endswith("_ascend_pt")), None)
    return rank.parent if rank else file.parent


def _warns(name: str) -> str:
    return next((pattern for start, pattern in WARNS.items() if name.startswith(start)), r"(?!)")
