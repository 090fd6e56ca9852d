"""The options that commands share, in groups: a command takes a group as one argument, and has an option for each field."""

import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints

import typer

from prof_analysis.sources import NAMES


class ExportType(StrEnum):
    """What a result is written as."""

    db = "db"
    text = "text"
    excel = "excel"
    csv = "csv"
    parquet = "parquet"
    json = "json"


# What serves a rank; mypy cannot read members that are made of names.
SourceChoice = StrEnum("SourceChoice", {name: name for name in ("auto", *NAMES)})  # type: ignore[misc]
_AUTO = SourceChoice("auto")


class ModuleSource(StrEnum):
    """What marks the modules."""

    auto = "auto"
    mstx = "mstx"
    nn_module = "nn.Module"


class By(StrEnum):
    """What is one module."""

    class_ = "class"
    instance = "instance"


_INPUT, _MODULES, _RESULT, _MACHINE, _SCREEN = "Input", "Modules", "Result", "Machine", "Screen"
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, for scripts.", rich_help_panel=_SCREEN)]
AcrossRanks = Annotated[
    bool, typer.Option("--across-ranks", help="Show modules that differ between ranks.", rich_help_panel=_SCREEN)
]
WithPmu = Annotated[bool, typer.Option("--pmu", help="Hardware counters by module too.", rich_help_panel=_RESULT)]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=_SCREEN)]


@dataclass(frozen=True)
class PathOption:
    """Where the profiles lie."""

    profiling_path: Annotated[
        Path,
        typer.Option(
            "-d", "--profiling-path", help="A *_ascend_pt folder, a tree of them, or a file of one.", rich_help_panel=_INPUT
        ),
    ]
    source: Annotated[
        SourceChoice,
        typer.Option("--source", help="What to read where a rank has both; auto: what answers more.", rich_help_panel=_INPUT),
    ] = _AUTO

    def chosen(self) -> dict[str, Any]:
        """What it says, as arguments of Profile."""
        return {"path": self.profiling_path, "source": str(self.source)}


@dataclass(frozen=True)
class InputOptions(PathOption):
    """Which part of the profiles counts."""

    rank_list: Annotated[str | None, typer.Option(help="Only these ranks, as in 0,3.", rich_help_panel=_INPUT)] = None
    step_id: Annotated[
        int | None, typer.Option(help="Only kernels launched in this profiler step.", rich_help_panel=_INPUT)
    ] = None

    def chosen(self) -> dict[str, Any]:
        """What they say, as arguments of Profile."""
        return {**super().chosen(), "rank_list": _numbers(self.rank_list), "step_id": self.step_id}


@dataclass(frozen=True)
class ModuleOptions:
    """What a module is."""

    nesting_tolerance_ns: Annotated[
        int, typer.Option(min=0, help="How much later than a module an op in it may end.", rich_help_panel=_INPUT)
    ] = 0
    module_source: Annotated[
        ModuleSource,
        typer.Option("--module-source", help="What marks modules; auto: mstx, else nn.Module rows.", rich_help_panel=_MODULES),
    ] = ModuleSource.auto
    module_domain: Annotated[
        str, typer.Option("--module-domain", help="mstx domains of modules, as in Module,Custom.", rich_help_panel=_MODULES)
    ] = "Module"
    by: Annotated[
        By, typer.Option("--by", help="One row a class, or an instance as in Layer[3]/Linear[0].", rich_help_panel=_MODULES)
    ] = By.class_
    depth: Annotated[int | None, typer.Option(min=1, help="Cut the module tree at this depth.", rich_help_panel=_MODULES)] = (
        None
    )
    audit_links: Annotated[
        bool, typer.Option("--audit-links", help="Judge the op of every launch anew.", rich_help_panel=_MODULES)
    ] = False

    def chosen(self) -> dict[str, Any]:
        """What they say, as arguments of Profile."""
        return {
            "nesting_tolerance_ns": self.nesting_tolerance_ns,
            "module_source": self.module_source.value,
            "module_domains": [domain.strip() for domain in self.module_domain.split(",")],
            "by": self.by.value,
            "depth": self.depth,
            "audit_links": self.audit_links,
        }


class Level(StrEnum):
    """What the rows of an MFU are of."""

    module = "module"
    op = "op"
    kernel = "kernel"
    rank = "rank"


@dataclass(frozen=True)
class MfuOptions:
    """How MFU is measured and shown."""

    level: Annotated[
        Level | None,
        typer.Option(
            help="What the summary shows; unless given, modules where there are any, else ops.", rich_help_panel=_RESULT
        ),
    ] = None
    peak_tflops: Annotated[
        str | None,
        typer.Option(
            help="Peaks to measure by, as in fp16=376,bf16=353.9, or published; else cores x clock x operations per cycle.",
            rich_help_panel=_RESULT,
        ),
    ] = None

    def chosen(self) -> dict[str, Any]:
        """What they say, as arguments of Profile."""
        return {"peak_tflops": _peaks(self.peak_tflops)}


class PmuLevel(StrEnum):
    """What the rows of hardware counters are of."""

    kernel_type = "kernel-type"
    op = "op"
    module = "module"


@dataclass(frozen=True)
class PmuOptions:
    """How hardware counters are shown."""

    level: Annotated[PmuLevel, typer.Option(help="What the summary shows.", rich_help_panel=_RESULT)] = PmuLevel.kernel_type


@dataclass(frozen=True)
class MachineOptions:
    """How much of the machine is used, or which cluster."""

    workers: Annotated[int | None, typer.Option(min=1, help="Ranks at a time.", rich_help_panel=_MACHINE)] = None
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of all together.", rich_help_panel=_MACHINE)] = None
    memory_limit: Annotated[
        str | None, typer.Option(help="Memory of all together, as in 3GB; the rest is spilled.", rich_help_panel=_MACHINE)
    ] = None
    scheduler: Annotated[
        str | None, typer.Option(help="Dask cluster that does the work, as in tcp://host:8786.", rich_help_panel=_MACHINE)
    ] = None

    store: Annotated[
        Path | None, typer.Option(help="Keep what was built here, for the next question.", rich_help_panel=_MACHINE)
    ] = None

    def chosen(self) -> dict[str, Any]:
        """What they say, as arguments of Profile."""
        return {
            "store": self.store,
            "workers": self.workers,
            "threads": self.threads,
            "memory_limit": _bytes(self.memory_limit),
            "scheduler": self.scheduler,
        }


@dataclass(frozen=True)
class ResultOptions:
    """Where the result goes, and as what."""

    output_path: Annotated[
        Path | None,
        typer.Option("-o", "--output-path", help="Where to write; else the input folder.", rich_help_panel=_RESULT),
    ] = None
    export_type: Annotated[ExportType, typer.Option(help="What to write.", rich_help_panel=_RESULT)] = ExportType.db
    top: Annotated[int, typer.Option(min=1, help="How many rows the summary shows.", rich_help_panel=_SCREEN)] = 10


@dataclass(frozen=True)
class ScreenOptions:
    """What is printed."""

    as_json: AsJson = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.", rich_help_panel=_SCREEN)] = False
    debug: Debug = False


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command for typer of one that takes groups of options: each field of a group is an option of its own."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hints[name] for name in signature(command).parameters if is_dataclass(hints[name])}

    @wraps(command)
    def flat(**given: Any) -> None:
        made = {name: group(**{one.name: given.pop(one.name) for one in fields(group)}) for name, group in groups.items()}
        command(**given, **made)

    parameters = []
    for name, parameter in signature(command).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))
            continue
        of_fields = get_type_hints(groups[name], include_extras=True)
        for one in fields(groups[name]):
            default = Parameter.empty if one.default is MISSING else one.default
            parameters.append(Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=of_fields[one.name]))
    cast(Any, flat).__signature__ = signature(command).replace(parameters=parameters)
    return flat


def _bytes(text: str | None) -> int | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT]?)(i?)B?", text.strip(), re.IGNORECASE)
    if found is None:
        raise typer.BadParameter(f"{text}: give a size as in 3GB", param_hint="--memory-limit")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** " KMGT".index(found[2].upper() or " "))


def _peaks(text: str | None) -> dict[str, float] | str | None:
    if text is None or text == "published":
        return text
    pairs = [part.split("=") for part in text.lower().replace(" ", "").split(",")]
    try:
        return {data_type: float(tflops) for data_type, tflops in pairs}
    except ValueError:
        raise typer.BadParameter(f"{text}: give peaks as in fp16=376,bf16=353.9", param_hint="--peak-tflops") from None


def _numbers(text: str | None) -> list[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise typer.BadParameter(f"{text}: give rank ids separated by commas, as in 0,3", param_hint="--rank_list")
    return [int(part) for part in parts]
