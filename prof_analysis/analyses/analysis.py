"""An analysis: the capabilities that it requires, its tables, and their names in exports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from prof_analysis.common.capabilities import Requirement, any_of
from prof_analysis.common.option_docs import INPUT, MACHINE


@dataclass(frozen=True)
class Extra:
    """Tables that an option adds to an analysis, and their requirements. Ranks that do not meet these have the others."""

    requires: tuple[Requirement, ...]
    exports: Mapping[str, str]
    also: tuple[str, ...] = ()


def flame(table: str, name: str, *requires: Requirement) -> Mapping[str, Extra]:
    """Return the flame graphs of a table, by their export types."""
    return dict.fromkeys(("speedscope", "collapsed"), Extra(requires, {table: name}))


# The timeline of each rank, by its export type.
TIMELINE: Mapping[str, Extra] = {
    "trace": Extra(
        ("kernels",),
        {
            "across.timeline_event": "TimelineEvent",
            "across.timeline_rank": "TimelineRank",
            "across.timeline_track": "TimelineTrack",
        },
        # Their warnings say what is missing.
        ("trace.work_audit", "trace.set_aside", "trace.device_process"),
    )
}


# The groups of analyses in the help of the command.
FIRST, WHERE, WHY = "Begin here", "Where the time goes", "Why it takes so long"


@dataclass(frozen=True)
class Rows:
    """A choice of what a row of an answer is: its table for each rank, or for all, and the table of all ranks together.

    `requires`: what a rank must have beyond what the analysis requires. `extra`: the extra of the analysis that it needs.
    `is_listed`: the command lists it as its table is; the function of the analysis shows the others in words of its own.
    """

    table: str
    over_ranks: str | None = None
    requires: tuple[Requirement, ...] = ()
    extra: str | None = None
    is_listed: bool = False


@dataclass(frozen=True)
class Analysis:
    """A question with a command of its own.

    `requires`: the capabilities that a rank must have. `exports`: its tables in the order in which they are written, each with
    its name in cluster_analysis.db, which in snake case is the name of its file. `of_several_ranks`: further tables, which
    compare ranks. `extras`: what an option adds and requires, by the name of the option. `pictures`: the tables that an export
    type writes in place of `exports`, where it writes a picture. `subject`: the thing that it counts; a rank
    without rows in the table `counted`, by default the first of `exports`, has none of it. `also`: further tables that the
    summary reads. `only_written`: those of `exports` that only files need, and the choices of `rows` that show them.
    `counts_kernels`: whether its figures are wrong where kernels are missing. `rows`: the choices of what a row is, the usual
    one first. `place` and `heading`: where the help of the command has it. `section`: the section of the report
    that shows its answer, with `captions` above its tables. `examples`: words of a command line
    behind its name, where `result` is a folder of a profile, by what they do. `returns`: the documentation of its method of
    Profile. `keys`: the schema of its answer with --json, made when it is asked for, since it reads the heads of tables.

    The function of the same name beside it answers: it takes the tables, how many rows to show, perhaps `by`, and options of
    the screen, and returns facts and blocks.
    """

    command: str
    meaning: str  # the help of the command: a question in one line of at most 55 characters, and below it what is shown
    subject: str
    exports: Mapping[str, str]
    rows: Mapping[str, Rows]
    requires: tuple[Requirement, ...]
    place: int
    returns: str
    keys: Callable[[], Mapping[str, Any]]
    heading: str = WHERE
    section: str | None = None
    captions: tuple[str, ...] = ()
    examples: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = (INPUT, MACHINE)  # options of a profile that the command takes, by section or name
    also: tuple[str, ...] = ()
    only_written: tuple[str, ...] = ()
    of_several_ranks: Mapping[str, str] = field(default_factory=dict)
    extras: Mapping[str, Extra] = field(default_factory=dict)
    pictures: Mapping[str, Extra] = field(default_factory=dict)
    counted: str | None = None
    counts_kernels: bool = True
    over_runs: Callable[[], Mapping[str, Any]] | None = None

    @property
    def name(self) -> str:
        """The name of its function, and of its method of Profile."""
        return self.command.replace("-", "_")

    @property
    def counted_table(self) -> str:
        """The table in which a rank without rows has none of the subject."""
        return self.counted or next(iter(self.exports))

    @property
    def tables(self) -> tuple[str, ...]:
        """All tables to build for it, also those whose warnings say which rows were skipped and which kernels are missing."""
        of_steps = () if "step.reported_audit" in self.also else ("kernels.step_audit",)
        missing = (
            ("trace.work_audit", "step.overlap_audit", *of_steps, "kernels.statistic_audit") if self.counts_kernels else ()
        )
        return (*self.exports, *self.also, *missing, "trace.set_aside", "trace.device_process")

    def as_shown(self, by: str | None = None) -> "Analysis":
        """Return the analysis without the tables that its answer does not read; `by` is what a row is."""
        listed = None if by is None else self.rows[by].table
        left_out = set(self.only_written) - {listed}
        return replace(self, exports={table: name for table, name in self.exports.items() if table not in left_out})

    def with_extra(self, name: str) -> "Analysis":
        """Return the analysis with the tables of one of its extras."""
        extra = self.extras[name]
        return replace(self, exports={**self.exports, **extra.exports}, also=(*self.also, *extra.also))

    def with_picture(self, export_type: str) -> "Analysis":
        """Return the analysis with the tables of one of its pictures beside those that it reads."""
        picture = self.pictures[export_type]
        return replace(self, also=(*self.also, *picture.exports, *picture.also))


COUNTERS = ("compute", "counters")
STACKS = ("stacks", "ops")
COMMUNICATION = any_of("communication", "reported_communication")
