"""Simulated runs to compare, in every form, and what is true of their differences."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from fixtures.cost import in_new
from fixtures.generate import generate
from fixtures.kineto_export import export_run
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis.profile.comparison import Comparison

FORMS = ("db", "text", "kineto")
# A GPU has neither a task queue nor helper kernels, and its modules are those of the Python tracer.
PLAIN = Shape(steps=4, task_queue=False, schedule_kernels=False, nn_module_ranges="instead")
Place = tuple[str, bool]
"""A module instance, forward or backward; outside modules the reason."""


@dataclass(frozen=True)
class Run:
    """A simulated run: its folder in each form that was asked for, and the kernels with their modules."""

    shape: Shape
    folder: Path
    owner: pa.Table

    def self_ns(self) -> Counter[Place]:
        """The kernel time of each module instance, by its path in this run."""
        found: Counter[Place] = Counter()
        for row in self.owner.select(["module_instance", "backward", "reason", "op_name", "start_ns", "end_ns"]).to_pylist():
            place = row["module_instance"] or ("linked to no op: " if row["op_name"] is None else "") + row["reason"]
            found[place, bool(row["backward"])] += row["end_ns"] - row["start_ns"]
        return found


def write_run(folder: Path, shape: Shape, ranks: int = 1, seed: int = 1, forms: Iterable[str] = ("db",)) -> Run:
    """Simulate a run and write it into folders named as the forms."""
    truth = generate(folder / "db", shape, ranks, seed)
    if "text" in forms:
        generate(folder / "text", shape, ranks, seed, style=TextStyle(exports="text"))
    if "kineto" in forms:
        export_run(folder / "db", folder / "kineto")
    return Run(replace(shape, world=ranks), folder, truth.kernel_owner)


def true_pairs(base: Run, new: Run) -> dict[Place, tuple[int, int]]:
    """The kernel time of each module instance in both runs, over all steps and ranks, by its path in the new run."""
    before: Counter[Place] = Counter()
    for (path, is_backward), ns in base.self_ns().items():
        before[in_new(path, new.shape), is_backward] += ns
    after = new.self_ns()
    return {place: (before[place], after[place]) for place in before | after}


def found_pairs(comparison: Comparison, run: str = "new") -> dict[Place, tuple[int, int]]:
    """The same as module_comparison has it; rows without kernel time are left out."""
    rows = comparison.rows(
        "SELECT coalesce(new_path, concat_ws('/', nullif(parent_module, ''), replace(module, '[Backward]', ''))) AS path, "
        f"is_backward, base_self_sum_ns, new_self_sum_ns FROM runs.module_comparison WHERE run = '{run}'"
    )
    pairs = [((row["path"], bool(row["is_backward"])), (row["base_self_sum_ns"], row["new_self_sum_ns"])) for row in rows]
    assert len(pairs) == len(dict(pairs))
    return {place: sums for place, sums in pairs if sums != (0, 0)}
