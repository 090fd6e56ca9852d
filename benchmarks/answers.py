"""Hold the answers of two revisions against each other, on the sample, on generated hard profiles and on real ones.

    python -m benchmarks.answers write FOLDER         # in each revision, into a folder outside the checkout
    python -m benchmarks.answers compare BEFORE AFTER # each difference that this file does not list; exit 1 if there is one

Each command runs. The tables that it exports are compared in every column and in the order of their rows, what it says with
--json in every value.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle

CHECKOUT = Path(__file__).parent.parent
REAL = CHECKOUT.parent / "shared" / "realdata"
HARD = {
    "training": Shape(steps=3, layers=3, recompute=True, gradient_hooks=True, queue_threads=2, micro_batches=2),
    "inference": Shape(mode="inference", steps=3, layers=4, graph_replay=True),
    "threads": Shape(
        forward_threads=2, equal_sequences=True, restarted_sequences="micro_batch", lost_link_every=7, domains=True
    ),
    "edges": Shape(
        depth=12, double_backward=True, open_ranges=True, overlapping_ranges=True, edge_cut=True, bare_launches=True
    ),
}
COMMANDS = (
    "module-stats", "module-stats --by counter", "module-stats --by rank", "module-stats --instances --depth 3",
    "module-stats --audit-links", "kernel-stats", "op-stats", "communication-stats", "communication-time", "slow-ranks",
    "mfu", "mfu --level op --peak-tflops published", "layer-stats", "graph-overhead", "step-time", "free-time", "pmu-stats",
    "pmu-stats --level op", "mstx-stats", "ranks", "advise", "pipeline", "memory", "api-stats", "links", "experts", "clock",
    "stacks",
)  # fmt: skip

# Column or key -> the name that it has now, wherever it occurs; None says that it is new. Both sides are read by it.
RENAMED: dict[str, str | None] = {
    "place": "location",
    "position": "location",  # of layers: the place in a layer; no table has both
    "data_place": "dp_rank",
    "context_place": "cp_rank",
    "tensor_place": "tp_rank",
    "untold": "unknown_causes",
    "schema_version": None,
    "command": None,
    "summary": "runs",  # where there are several
}
# Table -> the name of its files now.
RENAMED_TABLES = {"free_untold": "free_unknown_cause", "layer_number": "layer_by_index"}
# Table -> why equal rows come in another order.
REORDERED: dict[str, str] = {}
# Pattern of words -> what they are now, wherever a command says them: warnings, errors and what `ranks` says are reworded.
REWORDED: dict[str, str] = {
    **RENAMED_TABLES,
    "so nothing tells its ops and modules": "so its ops and modules are unknown",
    "is of kernels whose type is not known": "belongs to kernels of unknown type",
    "since the profile does not say its forward ops": "since its forward ops are unknown",
    " folders are of rank ": " folders have rank ",
    "what is summed over ranks counts each of them": "sums over ranks include each of them",
    r": (\d+) ([^:]+) were set aside: (.+)$": r": \2 set aside because \3: \1",
    "missing or stand twice; most differs ([^:]+):": r"missing or recorded twice; \1 differs most:",
    "no analysis.db that says it": "no analysis.db that holds them",
    "is no result of a profiler": "is not a profiling result",
}


def write(folder: Path) -> None:
    """Run every command on every profile and keep what it exports and what it says."""
    with TemporaryDirectory() as made, ThreadPoolExecutor(2) as threads:
        profiles = _profiles(Path(made))
        list(threads.map(lambda one: _ask(*one), [(command, *one, folder) for one in profiles.items() for command in COMMANDS]))
        logs = sorted(map(str, REAL.glob("vllm_ascend_log/*.log*")))
        if logs:
            _run(["stage-durations", *logs], folder / "vllm_ascend_log" / "stage-durations", made)


def _profiles(made: Path) -> dict[str, Path]:
    """The profiles by name."""
    found = {"sample": CHECKOUT / "fixtures" / "sample" / "decoder_training"}
    for name, shape in HARD.items():
        for exports in ("db", "text"):
            found[f"{name}_{exports}"] = made / f"{name}_{exports}"
            generate(made / f"{name}_{exports}", shape, ranks=2, seed=3, style=TextStyle(exports=exports))
    folders = {path.parent for path in REAL.rglob("rank0_ascend_pt")} | set(REAL.glob("qwen3_0.6b*"))
    for path in (*sorted(folders), *sorted(REAL.glob("*vllm_a3/*.csv"))):
        found["_".join(path.relative_to(REAL).parts)] = path
    return found


def _ask(command: str, name: str, path: Path, folder: Path) -> None:
    target = folder / name / command.replace(" ", "_")
    where = ["-d", str(path)]
    exported = [] if command == "ranks" else ["--export_type", "parquet", "-o", str(target)]
    _run([*command.split(), *where, *exported], target, str(path))


def _run(arguments: list[str], target: Path, path: str) -> None:
    target.mkdir(parents=True)
    if arguments[0] == "stage-durations":
        arguments = [*arguments, "--export_type", "parquet", "-o", str(target)]
    done = subprocess.run(
        [sys.executable, "-m", "prof_analysis", *arguments, "--json"], capture_output=True, text=True, check=False
    )
    said = done.stdout.replace(str(target), "OUT").replace(path, "IN").replace(str(CHECKOUT), "CHECKOUT")
    (target / "said.json").write_text(said or json.dumps({"crashed": done.stderr}), encoding="utf-8")


def compare(before: Path, after: Path) -> int:
    """Print each difference that is not listed; give how many there are."""
    was, is_now = _files(before), _files(after)
    names = sorted(was.keys() | is_now.keys())
    differences = [f"{name}: {found}" for name in names for found in _differences(was.get(name), is_now.get(name))]
    print(*differences, f"{len(differences)} differences in {len(names)} files", sep="\n")
    return len(differences)


def _files(root: Path) -> dict[str, Path]:
    """The files below a folder, by their paths as they are called now."""
    files = [file for file in root.rglob("*") if file.suffix in (".parquet", ".json")]
    return {str(file.relative_to(root).with_stem(RENAMED_TABLES.get(file.stem, file.stem))): file for file in files}


def _differences(before: Path | None, after: Path | None) -> Iterator[str]:
    if before is None or after is None:
        yield "only before" if before else "only after"
    elif before.suffix == ".json":
        was, is_now = (_keyed(json.loads(file.read_text(encoding="utf-8"))) for file in (before, after))
        yield from _of_values(was, is_now, "")
    else:
        rows = [_rows(before), _rows(after)]
        if before.stem in REORDERED:
            rows = [sorted(one, key=repr) for one in rows]
        for number, (row, row_now) in enumerate(zip_longest(*rows)):
            if row != row_now:
                yield f"row {number}: {_first_difference(row, row_now)}"
                return


def _rows(file: Path) -> list[dict[str, Any]]:
    with duckdb.connect() as connection:
        relation = connection.read_parquet(str(file), hive_partitioning=False)
        return [_keyed(dict(zip(relation.columns, row, strict=True))) for row in relation.fetchall()]


def _keyed(value: Any) -> Any:
    """A value with all its keys and sentences as they are called now, without keys that are new."""
    if isinstance(value, dict):
        new = {key for key, now in RENAMED.items() if now is None}
        return {RENAMED.get(key) or key: _keyed(one) for key, one in value.items() if key not in new}
    if isinstance(value, list | tuple):
        return [_keyed(one) for one in value]
    if isinstance(value, str):
        for old, now in REWORDED.items():
            value = re.sub(old, now, value)
    return value


def _first_difference(was: dict[str, Any] | None, is_now: dict[str, Any] | None) -> str:
    if was is None or is_now is None:
        return f"{was} is now {is_now}"
    if was.keys() != is_now.keys():
        return f"columns {sorted(was.keys() ^ is_now.keys())}"
    return "; ".join(f"{key}: {was[key]!r} is now {is_now[key]!r}" for key in was if was[key] != is_now[key])


def _of_values(was: Any, is_now: Any, where: str) -> Iterator[str]:
    if isinstance(was, dict) and isinstance(is_now, dict):
        for key in {**was, **is_now}:
            yield from _of_values(was.get(key), is_now.get(key), f"{where}.{key}")
    elif isinstance(was, list) and isinstance(is_now, list) and len(was) == len(is_now):
        for number, (one, other) in enumerate(zip(was, is_now, strict=True)):
            yield from _of_values(one, other, f"{where}[{number}]")
    elif was != is_now:
        yield f"{where}: {was!r} is now {is_now!r}"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", folder] if not folder.startswith("-"):
            write(Path(folder).absolute())
        case ["compare", before, after]:
            sys.exit(compare(Path(before), Path(after)) > 0)
        case _:
            sys.exit(__doc__)
