"""The sections of the report of a profile, from top to bottom. An analysis names its section; this file has what is more."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from prof_analysis.analyses import ANALYSES
from prof_analysis.analyses.answer import Answer, Block, ShownTable, Source, table_of
from prof_analysis.analyses.asked import OpenProfile
from prof_analysis.pictures.figures.plots import TABLES
from prof_analysis.pictures.report.modules import modules_of
from prof_analysis.pictures.report.parts import Heading, Part, Section, as_parts, plain
from prof_analysis.pictures.report.pictures import picture

# What the pictures show, for those who do not see them.
_TEXTS = {
    "steps": "Stacked bars of steps: computing, communication and idle time. The table of steps has the same figures.",
    "ranks": "Heat map of ranks and modules: the own computing time of a module against the median of the ranks.",
    "timeline": "Timeline of a step: streams, modules and idle gaps. The table has the longest gaps.",
    "communication": "Stacked bars of groups: transfer, wait and idle; below, what each rank moved to each other one. The "
    "tables of groups and of links have the same figures.",
    "pipeline": "Forward and backward passes of micro-batches in time, a row for each rank. The table has their sums.",
    "memory": "Memory over time, and the memory at the peak by module, or by call site where no module is known. The table has "
    "the same parts.",
}


@dataclass(frozen=True)
class Found:
    """The findings about a profile: the answers of each run by its name and command, and why other commands have none."""

    profile: OpenProfile
    answers: Mapping[str, Mapping[str, Answer]]
    reasons: Mapping[str, Sequence[str]]
    over_runs: Mapping[str, Answer]  # What commands say of several runs together.

    def parts(self, command: str, *captions: str, blocks: Callable[[Answer], Sequence[Block]] | None = None) -> Iterator[Part]:
        """Yield the answer of a command as parts of a page; of several runs each below its name, and then of all."""
        for run, answers in self.answers.items():
            if command in answers:
                if run:
                    yield Heading(plain(f"Run {run}"))
                yield from as_parts(answers[command].blocks if blocks is None else blocks(answers[command]), captions)
        if command in self.over_runs:
            yield Heading("All runs")
            yield from as_parts(self.over_runs[command].blocks, captions[-1:])

    def has(self, command: str) -> bool:
        """Return whether a run has an answer to a command."""
        return any(command in answers for answers in self.answers.values())


def sections_of(found: Found) -> list[Section]:
    """Return the sections of the page; those that the profile cannot answer say why."""
    sections = []
    for id_, (title, question, first) in SECTIONS.items():
        commands = commands_of(id_)
        made = list(first(found)) if first else []
        for command in commands:
            if captions := ANALYSES[command].captions:
                made += found.parts(command, *captions)
        of_commands = {command: found.reasons.get(command, ()) for command in commands}
        if id_ in OPTIONAL and not made:
            continue
        front = "{}: " if made and len(commands) > 1 else ""
        reasons = dict.fromkeys(
            f"{front.format(command)}{reason}" for command, reasons in of_commands.items() for reason in reasons
        )
        sections.append(Section(id_, title, question, made, [plain(reason) for reason in reasons]))
    return sections


def _modules(found: Found) -> Iterator[Part]:
    if found.has("module-stats"):
        yield modules_of(found.profile)
        yield from found.parts("module-stats", "Where kernels lie", blocks=lambda answer: [answer.blocks[-1]])


def _picture(found: Found, name: str) -> Iterator[Part]:
    """Yield a picture where its analysis has an answer."""
    if found.has(TABLES[name][0]):
        yield from picture(found.profile, name, _TEXTS[name])


def _ranks(found: Found) -> Iterator[Part]:
    if not found.has("across-ranks") and not found.has("slow-ranks"):
        return
    if found.has("module-stats"):
        yield from picture(found.profile, "ranks", _TEXTS["ranks"])
    yield from found.parts("slow-ranks", "Ranks, and how long each waited for others")
    yield from found.parts("across-ranks", "Modules whose own time differs most between ranks")


def _pipeline(found: Found) -> Iterator[Part]:
    stages = [row for answers in found.answers.values() if "pipeline" in answers for row in answers["pipeline"].facts["stages"]]
    if any((row["stage_count"] or 1) > 1 for row in stages):
        yield from picture(found.profile, "pipeline", _TEXTS["pipeline"])
        yield from found.parts("pipeline", "Ranks by pipeline stage")


def _timeline(found: Found) -> Iterator[Part]:
    if found.has("free-time"):
        yield from picture(found.profile, "timeline", _TEXTS["timeline"])
        yield from found.parts("free-time", "Longest gaps", blocks=_with_stacks)


def _kernels_around(gaps: Sequence[Mapping[str, object]]) -> dict[str, Source]:
    """Return the columns with the kernels around gaps; none where ops are known."""
    if any(row["op_before"] is not None or row["op_after"] is not None for row in gaps):
        return {}
    return {"kernel before": "kernel_before", "kernel after": "kernel_after"}


def _with_stacks(answer: Answer) -> list[Block]:
    """Return the answer about idle time, where the table has the Python stacks and ops around each gap too."""
    columns: dict[str, Source] = {
        "main cause": "cause",
        "gap": "duration_ns",
        "share of gap": ("share", lambda row: None if row["cause_ns"] is None else row["cause_ns"] / row["duration_ns"]),
        "step": ("text", lambda row: row["step_id"]),
        "op before": "op_before",
        "op after": "op_after",
        **_kernels_around(answer.facts["longest_gaps"]),
        "host ops": "host_ops",
        "Python stack": "python_stack",
        "profile": "profile",
    }
    rows = answer.facts["longest_gaps"]
    shown = {
        header: source
        for header, source in columns.items()
        if not isinstance(source, str) or any(row[source] is not None for row in rows)
    }
    return [table_of("free.longest_gap", rows, shown), *(block for block in answer.blocks if not isinstance(block, ShownTable))]


# Id -> the heading, the question that it answers, and the function that returns the parts before the answers, if any.
SECTIONS: Mapping[str, tuple[str, str, Callable[[Found], Iterator[Part]] | None]] = {
    "modules": ("Modules", "Which modules cost the time, by which ops and kernels?", _modules),
    "steps": ("Steps", "What is each step made of?", partial(_picture, name="steps")),
    "ranks": ("Ranks", "Which rank makes the others wait?", _ranks),
    "pipeline": ("Pipeline", "How do micro-batches pass the pipeline stages?", _pipeline),
    "iterations": ("Passes of a server", "How long are prefill and decode, and what lies between?", None),
    "timeline": ("Timeline", "What runs when, and why is the device idle?", _timeline),
    "kernels": ("Kernels", "Which kernels cost the time, what bounds them?", None),
    "communication": ("Communication", "Does communication transfer, or wait?", partial(_picture, name="communication")),
    "memory": ("Memory", "What fills the memory of the device?", partial(_picture, name="memory")),
}
# Sections that are left out where they have no answer, as most profiles lack the thing itself.
OPTIONAL = ("pipeline", "iterations")


def commands_of(section: str) -> list[str]:
    """Return the analyses whose answers a section shows."""
    return [command for command, analysis in ANALYSES.items() if analysis.section == section]
