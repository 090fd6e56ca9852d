"""All options of a profile: those that change answers, and which files are read, how much of the machine is used, what is kept.

The command makes its options from the fields of ProfileOptions, and help() shows them as keywords of every function that takes
**keywords: Unpack[Keywords].
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from inspect import Parameter, signature
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any, Literal, TypedDict, TypeVar, cast

from prof_analysis.common.answer_options import ModuleSource, Options, Peaks, Per
from prof_analysis.common.option_docs import INPUT, MACHINE, SHOW, Doc, check, documented

OnProgress = Callable[[int, int], None]
Source = Literal["auto", "db", "text", "kineto", "snapshot", "nsys"]

# The value of the option `cache` that keeps nothing.
NO_CACHE = "none"


@dataclass(frozen=True, kw_only=True)
class ProfileOptions(Options):
    """All options of a profile: also those about files to read, use of the machine, and kept tables."""

    rank_list: Annotated[Iterable[int] | None, Doc("Use only these ranks.", INPUT, spelled="0,3", value="IDS")] = None
    source: Annotated[
        Source,
        Doc(
            "Read the profiler database (db) or the text exports (text) where a rank has both; auto reads what answers more, "
            "else the database. kineto reads GPU traces alone, snapshot memory snapshots, nsys databases of Nsight Systems.",
            INPUT,
            is_rare=True,
        ),
    ] = "auto"
    sql: Annotated[
        str | Path | None,
        Doc(
            "A folder of your own tables, as <schema>/<table>.sql, which queries can read like all others.", INPUT, is_rare=True
        ),
    ] = None
    allow_files: Annotated[
        bool,
        Doc(
            "Let queries and your own tables read files of this machine, as in FROM read_csv('peaks.csv').", INPUT, is_rare=True
        ),
    ] = False
    workers: Annotated[
        int | None,
        Doc(
            "Analyse this many ranks at a time, large ones in processes of their own; by default as many as threads.",
            MACHINE,
            at_least=1,
        ),
    ] = None
    threads: Annotated[
        int | None,
        Doc("Use this many threads in all; by default as many as the machine or its container has.", MACHINE, at_least=1),
    ] = None
    memory_limit: Annotated[
        int | None,
        Doc(
            "Use at most this many bytes of memory in all; what needs more goes to temporary files.",
            MACHINE,
            at_least=1,
            spelled="3GB",
            value="SIZE",
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        Doc("Analyse the ranks on the workers of this Dask scheduler, such as tcp://host:8786.", MACHINE, value="URL"),
    ] = None
    cache: Annotated[
        str | Path | None,
        Doc(
            "Keep results for the next questions in this folder, which has no limit of size and which the workers of a cluster "
            "share; none keeps nothing. By default they are kept in your cache folder.",
            MACHINE,
        ),
    ] = None
    anonymize: Annotated[
        bool,
        Doc(
            "Replace folders, hosts, users and their code by names such as host1; addresses and processes too, in all that is "
            "shown and written; figures stay.",
            SHOW,
        ),
    ] = False
    on_progress: Annotated[
        OnProgress | None,
        Doc("Called with (work done, all work), in bytes of input, as ranks are read and tables are built, in any thread."),
    ] = None

    def __post_init__(self) -> None:
        """Refuse values that an option does not take, by itself or together with other options."""
        super().__post_init__()
        if self.rank_list is not None:
            object.__setattr__(self, "rank_list", tuple(self.rank_list))
            check("rank_list", self.rank_list, bool(self.rank_list), "at least one rank id")
        if str(self.cache) == NO_CACHE:  # The command line gives a path.
            object.__setattr__(self, "cache", NO_CACHE)
        if self.scheduler is not None:
            for name in ("workers", "memory_limit"):
                value = getattr(self, name)
                check(name, value, value is None, "no value, a cluster has limits of its own")
            check("cache", self.cache, self.cache not in (None, NO_CACHE), "a folder that the workers of the cluster see too")


class Keywords(TypedDict, total=False):
    """The fields of ProfileOptions as keywords, for type checkers and editors; a test holds them equal."""

    step_id: int | None
    nesting_tolerance_ns: int
    module_source: ModuleSource
    module_domains: str | Iterable[str]
    instances: bool
    depth: int | None
    audit_links: bool
    capture: str | Path | None
    filter: str | None
    under: str | None
    module: str | None
    python_frames: bool
    user_code: bool
    peak_tflops: Peaks | None
    thresholds: Mapping[str, float] | None
    requests: str | Path | Mapping[str, Any] | None
    per: Per
    skip_steps: Iterable[int]
    alias: str | Path | Mapping[str, str] | None
    rank_map: Mapping[int, int] | None
    rank_list: Iterable[int] | None
    source: Source
    sql: str | Path | None
    allow_files: bool
    workers: int | None
    threads: int | None
    memory_limit: int | None
    scheduler: str | None
    cache: str | Path | None
    anonymize: bool
    on_progress: OnProgress | None


F = TypeVar("F", bound=Callable[..., Any])


def shows_options(function: F) -> F:
    """Show the options as keywords in the signature of a function that takes **keywords: Unpack[Keywords]."""
    parameters = [one for one in signature(function).parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    types = {name: type_ for name, (type_, _) in documented(ProfileOptions).items()}
    options = [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=types[field.name])
        for field in fields(ProfileOptions)
    ]
    cast(Any, function).__signature__ = signature(function).replace(parameters=[*parameters, *options])
    return function


def described_options() -> str:
    """Return the meaning of each option, as the lines of a docstring."""
    lines = [f"{name}: {doc.meaning}" for name, (_, doc) in documented(ProfileOptions).items()]
    return "\n".join(fill(line, 116, subsequent_indent="    ") for line in lines)
