"""Measures every command on generated profiles, beside the main job and the recipe of msprof-analyze for the same question.

    python -m benchmarks.commands --kernels 100000 1000000 --write
    python -m benchmarks.commands --kernels 2000 --ranks 512 --forms db --commands slow-ranks sql
    python -m benchmarks.commands --kernels 1000000 --forms db --commands free-time --runs 7
    python -m benchmarks.commands --kernels 1000000 --forms db --runs 1 --no-recipes --results ours.jsonl

The commands are those of the registry of analyses, those that read modules also with --instances, the report, a timeline,
`compare` of the profile with itself, `sql` over all ranks, and with the recipes `verify`, which runs many of them. What the
profile has no records of is asked of another one of the same run that has them, and `memory` also of a memory snapshot with an
event for each kernel.
Each round runs the bare read, the main job, the command and the recipe once. What a command cost is appended to --results as a
line of JSON, and what is there is not measured again, unless the code has changed: a run that was cut is taken up by the same
line. --write puts all of it into README.md beside this file.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.compare import COMPARE, compare_job
from benchmarks.jobs import BARE, FORMS, MAIN_JOB, MODES, OURS, PEER, Job, bare_read, generate, our_job, peer_job
from benchmarks.measure import Cost, in_turn, ratio_of, typical
from benchmarks.report import about, table, write_section
from prof_analysis import open_profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.common.option_docs import MODULES
from prof_analysis.engine.code import code_digest
from tests.helpers.snapshots import MIB, Allocator, snapshot, stack, write

# Recipes that answer the question of a command, as far as there is one.
RECIPES = {
    "module-stats": "module_statistic",
    "kernel-stats": "compute_op_sum",
    "op-stats": "cann_api_sum",
    "communication-stats": "hccl_sum",
    "mfu": "operator_mfu",
    "mstx-stats": "mstx_sum",
    "step-time": "cluster_time_summary",
    "free-time": "free_analysis",
    "slow-ranks": "slow_rank",
}
BY_INSTANCE = " --instances"
PICTURES = ("report", "timeline")
VERIFY = "verify"
OF_SNAPSHOT = "memory (snapshot)"
# What the generator records only where a command needs it.
RECORDS = {"memory": ("--memory",), "stacks": ("--stacks", "chains")}
SQL = "SELECT profile, type, count(*) AS kernels, sum(duration_ns) AS duration_ns FROM trace.kernel GROUP BY ALL"
# A recipe that takes longer is stopped.
PEER_LIMIT_S = 300
VERIFY_LIMIT_S = 1800
COLUMNS = (
    *(
        "kernels a rank",
        "ranks",
        "profile",
        "command",
        "wall s",
        "CPU s",
        "peak MB",
        "x main job",
        "x main CPU",
        "x bare read",
        "x bare CPU",
    ),
    *("recipe", "its wall s", "x command"),
)
Key = tuple[int, int, str, str, str]
Costs = dict[str, list[Cost]]


def commands() -> Iterator[str]:
    """Yield the commands to measure."""
    for name, analysis in ANALYSES.items():
        yield name
        if MODULES in analysis.options:
            yield name + BY_INSTANCE
    yield from (*PICTURES, OF_SNAPSHOT, COMPARE, VERIFY, "sql")


def is_answered(command: str, profiles: Path) -> bool:
    """Return whether the profiles have what a command requires; generated ones have no calls of compiled graphs."""
    analysis = analysis_of(command)
    with open_profile(profiles) as profile:
        ranks = profile.ranks(arrow=True).to_pylist()
    return analysis not in ANALYSES or any(analysis in rank["answers"] for rank in ranks)


def analysis_of(command: str) -> str:
    """Return the name of the analysis that a command asks for."""
    return "memory" if command == OF_SNAPSHOT else command.removesuffix(BY_INSTANCE)


def write_snapshot(folder: Path, events: int) -> None:
    """Write a memory snapshot with so many events: layers whose activations live for eight of them, and one that stays."""
    device = Allocator()
    device.segment(0x1000000, 64 * MIB)
    device.alloc(0x1000000, MIB, stack(1))
    for number in range(events // 3):
        if number >= 8:
            device.free(0x1200000 + number % 8 * MIB)
        device.alloc(0x1200000 + number % 8 * MIB, 512 * (1 + number % 1000), stack(10 + number % 40))
    write(folder / "rank0_snapshot.pickle", snapshot(device))


def asked_of(command: str, key: Key, profiles: Path, folder: Path) -> Path:
    """Return the profiles of which a command is asked, which are made where they are not there."""
    kernels, ranks, mode, form, _ = key
    its_own = folder / f"of_{command.replace(' ', '_')}"
    if command == OF_SNAPSHOT and not its_own.exists():
        write_snapshot(its_own, kernels)
    elif command in RECORDS and not its_own.exists():
        generate(its_own, kernels, mode, form, ranks, RECORDS[command])
    return its_own if its_own.exists() else profiles


def job_of(command: str, profiles: Path, scratch: Path) -> Job:
    """Return the job that runs a command."""
    if command == COMPARE:
        return compare_job(profiles, profiles, scratch / "out")
    if command == "sql":
        return our_job(("sql", SQL), profiles, None)
    if command == VERIFY:
        return our_job((VERIFY,), profiles, None, limit_s=VERIFY_LIMIT_S)
    words = ("memory",) if command == OF_SNAPSHOT else tuple(command.split())
    return our_job(words, profiles, scratch / "out")


def measured(command: str, form: str, profiles: Path, asked: Path, scratch: Path, runs: int, with_recipes: bool) -> Costs:
    """Return what each run of the bare read and the main job of `profiles`, of the command and of the recipe cost."""
    jobs: dict[str, Job] = {BARE: bare_read(profiles), OURS: our_job(MAIN_JOB, profiles, scratch / "out")}
    if command not in MAIN_JOB:
        jobs[command] = job_of(command, asked, scratch)
    if with_recipes and form == "db" and command in RECIPES:
        jobs[PEER] = peer_job(RECIPES[command], profiles, scratch / f"peer_{command}", PEER_LIMIT_S)
    return in_turn(jobs, runs)


def row_of(key: Key, costs: Costs) -> tuple[str, ...]:
    """Return the row of the table."""
    kernels, ranks, mode, form, command = key
    main_job, ours = costs[OURS], costs.get(command, costs[OURS])
    typically = typical(ours)
    row = [f"{kernels:,}", f"{ranks}", f"{mode}, {form}", f"`{command}`"]
    row += [f"{'' if typically.is_whole else '> '}{typically.wall_s:.2f}", f"{typically.cpu_s:.2f}"]
    row += [f"{typically.peak_bytes / 1e6:,.0f}", str(ratio_of(ours, main_job))]
    row += [str(ratio_of(ours, main_job, lambda cost: cost.cpu_s))]
    row += [str(ratio_of(ours, costs[BARE])), str(ratio_of(ours, costs[BARE], lambda cost: cost.cpu_s))]
    if PEER not in costs:
        return (*row, "", "", "")
    peer = typical(costs[PEER])
    its_wall_s = f"{'' if peer.is_whole else '> '}{peer.wall_s:.2f}"
    return (*row, f"`{RECIPES[command]}`", its_wall_s, str(ratio_of(costs[PEER], ours)))


def read(results: Path, code: str) -> dict[Key, Costs]:
    """Return what is known of this code."""
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    known = [one for one in map(json.loads, lines) if one["code"] == code]
    return {tuple(one["of"]): {name: [Cost(**run) for run in runs] for name, runs in one["costs"].items()} for one in known}


def add(results: Path, code: str, key: Key, costs: Costs) -> None:
    """Append a line."""
    as_rows = {name: [asdict(run) for run in runs] for name, runs in costs.items()}
    with results.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"code": code, "of": key, "costs": as_rows}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        "benchmarks.commands", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kernels", type=int, nargs="+", default=[100_000], help="sizes of a rank")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS[:2])
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--commands", nargs="+", choices=list(commands()), default=list(commands()), metavar="COMMAND")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--recipes", action=argparse.BooleanOptionalAction, default=True, help="run msprof-analyze as well")
    parser.add_argument("--results", type=Path, default=Path("commands.jsonl"), help="what was measured so far")
    parser.add_argument("--write", action="store_true", help="put all that was measured into benchmarks/README.md")
    given = parser.parse_args()
    code = code_digest()
    costs = read(given.results, code)
    for kernels in given.kernels:
        for mode in given.modes:
            for form in given.forms:
                keys: list[Key] = [(kernels, given.ranks, mode, form, command) for command in given.commands]
                if missing := [key for key in keys if key not in costs]:
                    with TemporaryDirectory(prefix="benchmarks_") as folder:
                        profiles = Path(folder, "profiles")
                        generate(profiles, kernels, mode, form, given.ranks)
                        for key in missing:
                            command = key[-1]
                            asked = asked_of(command, key, profiles, Path(folder))
                            if (command == VERIFY and not given.recipes) or not is_answered(command, asked):
                                continue
                            costs[key] = measured(command, form, profiles, asked, Path(folder), given.runs, given.recipes)
                            add(given.results, code, key, costs[key])
                            print("  ".join(row_of(key, costs[key])), flush=True)
    if given.write:
        in_order = sorted(costs, key=lambda key: (*key[:4], list(commands()).index(key[4])))
        lines = [about("benchmarks.commands"), "", *table(COLUMNS, [row_of(key, costs[key]) for key in in_order])]
        write_section(Path(__file__).parent / "README.md", "commands", lines)


if __name__ == "__main__":
    main()
