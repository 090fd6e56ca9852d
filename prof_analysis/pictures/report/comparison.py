"""The report of a comparison: changes as sentences, the icicle of both runs, and the tables of `compare`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from prof_analysis.analyses.answer import Answer, Block, Sentences, ShownTable, Source, table_of
from prof_analysis.analyses.asked import Compared
from prof_analysis.analyses.comparison import answers_of
from prof_analysis.analyses.words import change
from prof_analysis.pictures.figures.compared import compared_modules, compared_root
from prof_analysis.pictures.report.matters import Matter
from prof_analysis.pictures.report.modules import CostColumn, costs_of, in_tree
from prof_analysis.pictures.report.page import Page, file_for, write_page
from prof_analysis.pictures.report.parts import Heading, Modules, Notes, Part, Section, as_parts, plain, table
from prof_analysis.pictures.report.pictures import picture_of
from prof_analysis.pictures.report.profile import foot_of, made_of

Row = Mapping[str, Any]
_ROWS = 100
_SHOWN = 3
_TEXT = (
    "Icicle of the modules of both runs: the width of each is its kernel time in the base and in the new run together, the "
    "colour the difference. The table of modules has the same figures; choosing a module there zooms the picture."
)
# Id -> the heading, the question, and the first heading of the table of `compare` that it shows.
_SECTIONS = {
    "ops": ("Ops", "Which ops changed?", "op"),
    "kernels": ("Kernels", "Which kernels changed?", "kernel type"),
    "efficiency": ("Efficiency", "How well do the runs use the device?", "efficiency of"),
    "communication": ("Communication", "Which communication changed?", "communication"),
    "steps": ("Steps", "Which steps changed?", "step"),
    "idle": ("Idle time", "Why is the device idle longer, or less?", "idle by cause"),
}
_COSTS: tuple[CostColumn, ...] = (
    ("op", "text", lambda row: row["op_name"]),
    ("change", "text", lambda row: row["change"] or "none"),
    ("difference", "change", lambda row: row["difference_ns"]),
    ("base", "time", lambda row: row["base_ns"]),
    ("new", "time", lambda row: row["new_ns"]),
    ("in module", "text", lambda row: row["module"]),
    ("kernels in base", "number", lambda row: row["base_kernel_count"]),
    ("kernels in new", "number", lambda row: row["new_kernel_count"]),
    ("kernel types in base", "text", lambda row: row["base_kernel_types"]),
    ("kernel types in new", "text", lambda row: row["new_kernel_types"]),
)


def report(comparison: Compared, file: Path, efficiency: bool = False) -> Path:
    """Write the report of a comparison into an HTML file, and return the file.

    Raises InputError when there is nothing to compare, OutputError when the file cannot be written.
    """
    file = file_for(file)
    answers = answers_of(comparison, _ROWS, efficiency=efficiency)
    ranks = comparison.profile.rank_rows()
    matters = [
        (
            plain(f"Run {run}") if run else "",
            [
                (about, plain(f"{sentence[:1].upper()}{sentence[1:]}."), section)
                for about, sentence, section in _matters(answer)
            ],
        )
        for run, answer in answers.items()
    ]
    summary = Section("summary", "Whole runs", "How do the runs differ as a whole?", list(_summary(answers)))
    sections = [summary, Section("modules", "Modules", "Which modules changed?", list(_modules(comparison, answers)))]
    for id_, (title, question, header) in _SECTIONS.items():
        parts = list(_tables(answers, header, title))
        if parts:
            sections.append(Section(id_, title, question, parts))
    names = " and ".join(["base", *comparison.runs])
    made, foot = made_of(comparison.profile, ranks), foot_of(comparison.profile)
    page = Page(plain(f"Comparison of {names}"), [], matters, sections, made, foot)
    return write_page(page, file)


def _matters(answer: Answer) -> Iterator[Matter]:
    """Yield the finding, the largest changes by module and op, and the change of the kernel time."""
    facts = answer.facts
    if facts["finding"] is None:
        yield "Memory", facts["memory_total"]["sentence"], "memory"
        return
    yield "Change", facts["finding"]["sentence"], "summary"
    modules = [f"{row['modules']} {change(row['self_difference_ns'])}" for row in facts["modules"][:_SHOWN]]
    yield "Modules", f"changed most: {'; '.join(modules)}" if modules else "no module changed by more than noise", "modules"
    ops = [
        f"{row['op_name'] or row['modules']} {change(row['difference_ns'])} ({row['change']})" for row in facts["ops"][:_SHOWN]
    ]
    if ops:
        yield "Ops", f"changed most: {'; '.join(ops)}", "ops"
    idle = [f"{row['cause']} {change(row['difference_ns'])}" for row in facts["idle"][:1]]
    if idle:
        yield "Idle", f"the cause of idle time that changed most: {idle[0]}", "idle"


def _sentences(answer: Answer) -> list[str]:
    return [line for block in answer.blocks if isinstance(block, Sentences) for line in block.lines]


def _summary(answers: Mapping[str, Answer]) -> Iterator[Part]:
    for run, answer in answers.items():
        yield from _heading(run)
        yield from as_parts(answer.blocks[1:2], ["Times of the whole run"])
        yield Notes([plain(line) for line in _sentences(answer)[1:]])


def _heading(run: str) -> Iterator[Part]:
    if run:
        yield Heading(plain(f"Run {run}"))


def _tables(answers: Mapping[str, Answer], header: str, caption: str) -> Iterator[Part]:
    """Yield the tables that begin with a heading, of each run below its name."""
    for run, answer in answers.items():
        blocks: list[Block] = [
            block for block in answer.blocks if isinstance(block, ShownTable) and block.columns[0].header == header
        ]
        if parts := as_parts(blocks, [f"{caption} that changed"]):
            yield from _heading(run)
            yield from parts


def _modules(comparison: Compared, answers: Mapping[str, Answer]) -> Iterator[Part]:
    rows = comparison.rows("FROM runs.module_comparison")
    if not rows:
        return
    root = compared_root(rows)
    tree = in_tree(root)
    base, new = (sum(row[f"{run}_self_ns"] for row in rows) for run in ("base", "new"))
    tree[0].update(
        base_total_ns=base, new_total_ns=new, total_difference_ns=new - base, total_ratio=new / base if base else None
    )
    columns: dict[str, Source] = {
        "module": ("tree", lambda row: row["line"]),
        "difference": ("change", lambda row: row.get("total_difference_ns")),
        "base": ("time", lambda row: row.get("base_total_ns")),
        "new": ("time", lambda row: row.get("new_total_ns")),
        "new / base": ("number", lambda row: row.get("total_ratio")),
        "own difference": ("change", lambda row: row.get("self_difference_ns")),
        "own in base": ("time", lambda row: row.get("base_self_ns")),
        "own in new": ("time", lambda row: row.get("new_self_ns")),
        "noise": ("text", lambda row: row.get("is_noise")),
        "rule": ("text", lambda row: row.get("rule")),
    }
    ids = [row["id"] for row in tree]
    shown = table(table_of("runs.module_comparison", tree, columns), "All modules", ids)
    costs = costs_of(comparison.rows("FROM runs.op_comparison"), _COSTS, root)
    yield Modules(picture_of("modules", _TEXT, compared_modules(root)), shown, costs)
    yield from _tables(answers, "module", "Modules")
