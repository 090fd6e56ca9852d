"""The options of a profile: each is declared once, here, with its type, its default and what it means.

The fields of Options are the variables that the SQL reads with getvariable(). The command makes its options of the same fields,
and help() shows them as keywords of whatever takes **keywords: Unpack[Keywords].
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from inspect import Parameter, signature
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any, Literal, TypedDict, TypeVar, cast, get_args, get_origin, get_type_hints

from prof_analysis.errors import InputError

# What the SQL reads with getvariable().
Variables = Mapping[str, int | bool | str | list[str] | None]
OnProgress = Callable[[int, int], None]
Source = Literal["auto", "db", "text"]
ModuleSource = Literal["auto", "mstx", "nn.Module"]
By = Literal["class", "instance"]
Peaks = Mapping[str, float] | Literal["published"]

INPUT, MODULES, RESULT, MACHINE = "Input", "Modules", "Result", "Machine"
# Types that a peak can be given for, as mfu.shape calls them.
_DATA_TYPES = (
    "fp16", "bf16", "hf32", "fp32", "int8", "int4", "hifloat8", "float8_e4m3fn", "float8_e5m2", "float4_e2m1", "float4_e1m2"
)  # fmt: skip


@dataclass(frozen=True)
class Doc:
    """What an option means, the section of the command's help that it belongs to, and the least number that it takes.

    `spelled` is an example for the command line, where a value has another form than in Python.
    """

    meaning: str
    section: str | None = None
    at_least: int | None = None
    spelled: str | None = None


@dataclass(frozen=True, kw_only=True)
class Options:
    """What an answer depends on beside the files: the values that the SQL reads."""

    step_id: Annotated[int | None, Doc("Use only the kernels launched in this profiler step.", INPUT)] = None
    nesting_tolerance_ns: Annotated[
        int, Doc("How much later than its enclosing range a range or op may end and still be inside.", MODULES, at_least=0)
    ] = 0
    module_source: Annotated[
        ModuleSource,
        Doc(
            "What marks modules: mstx ranges, nn.Module rows of the Python tracer, or auto: mstx where there are any.", MODULES
        ),
    ] = "auto"
    module_domains: Annotated[
        str | Iterable[str], Doc("The mstx domains whose start/end ranges are modules.", MODULES, spelled="Module,Custom")
    ] = ("Module",)
    by: Annotated[
        By,
        Doc(
            "class merges all calls under one chain of classes; instance keeps siblings of one class apart, as in "
            "Layer[3]/Linear[0], numbered in call order within one call of the root module.",
            MODULES,
        ),
    ] = "class"
    depth: Annotated[
        int | None, Doc("Cut the module tree: what is nested deeper belongs to the module at this depth.", MODULES, at_least=1)
    ] = None
    audit_links: Annotated[
        bool, Doc("Derive the op of every launch again, not only of doubtful ones (table module.link_audit).", MODULES)
    ] = False
    peak_tflops: Annotated[
        Peaks | None,
        Doc(
            "Peaks to measure MFU by, in 10^12 operations a second by data type; published takes those of table "
            "mfu.published_peak; by default it is cores x clock x operations of a core in a cycle.",
            RESULT,
            spelled="fp16=376,bf16=353.9",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Refuse what no option takes, so that nobody else has to check."""
        for name, (type_, doc) in documented(type(self)).items():
            value = getattr(self, name)
            if get_origin(type_) is Literal:
                one_of(name, value, get_args(type_))
            if doc.at_least is not None:
                check(name, value, value is None or value >= doc.at_least, f"{doc.at_least} or more")
        object.__setattr__(self, "module_domains", self.domains)  # An iterator gives its elements once.
        check("module_domains", self.domains, all(self.domains) and bool(self.domains), "at least one domain")
        if isinstance(self.peak_tflops, str):
            check("peak_tflops", self.peak_tflops, self.peak_tflops == "published", "'published' or a peak by data type")
            return
        for data_type, tflops in (self.peak_tflops or {}).items():
            is_right = data_type in _DATA_TYPES and 0 < tflops < 1_000_000
            expected = f"a positive number for one of {', '.join(_DATA_TYPES)}"
            check("peak_tflops", f"{data_type}={tflops}", is_right, expected)

    @property
    def domains(self) -> tuple[str, ...]:
        """The mstx domains of modules, of which a single one may be given as a text."""
        return (self.module_domains,) if isinstance(self.module_domains, str) else tuple(self.module_domains)

    @property
    def marks(self) -> tuple[str, ...]:
        """What may mark modules: the first of these that a profile has does. The SQL goes by the same rule in module.range."""
        return ("mstx", "nn.Module") if self.module_source == "auto" else (self.module_source,)

    def variables(self) -> Variables:
        """Return the values that the SQL reads, by the names of the fields; peaks are a list of texts as in fp16=376.0."""
        if isinstance(self.peak_tflops, str):
            peaks = [str(self.peak_tflops)]
        else:
            peaks = [f"{data_type}={float(tflops)}" for data_type, tflops in sorted((self.peak_tflops or {}).items())]
        values = {field.name: getattr(self, field.name) for field in fields(Options)}
        return {**values, "module_domains": list(self.domains), "peak_tflops": peaks}


@dataclass(frozen=True, kw_only=True)
class ProfileOptions(Options):
    """All options of a profile: what is read of which files, by how much of which machine, and what is kept."""

    rank_list: Annotated[Iterable[int] | None, Doc("Use only these rank ids.", INPUT, spelled="0,3")] = None
    source: Annotated[
        Source,
        Doc(
            "What to read where a rank has both, the profiler database (db) or the text exports; auto is what answers more, "
            "the database where both answer the same.",
            INPUT,
        ),
    ] = "auto"
    sql: Annotated[
        str | Path | None,
        Doc("A folder of tables of your own, <schema>/<table>.sql, which can be asked like all others.", INPUT),
    ] = None
    workers: Annotated[
        int | None,
        Doc("Ranks at a time, each in a process of its own where they are large; by default as many as threads.", MACHINE, 1),
    ] = None
    threads: Annotated[
        int | None,
        Doc("Threads of all workers together; by default those of the machine or its container.", MACHINE, at_least=1),
    ] = None
    memory_limit: Annotated[
        int | None,
        Doc(
            "Bytes that all workers together may take; the rest is spilled to temporary files.",
            MACHINE,
            at_least=1,
            spelled="3GB",
        ),
    ] = None
    scheduler: Annotated[
        str | None, Doc("The Dask scheduler whose workers analyse the ranks, as in tcp://host:8786.", MACHINE)
    ] = None
    store: Annotated[
        str | Path | None, Doc("Keep what was built in this folder, for the next question about unchanged files.", MACHINE)
    ] = None
    on_progress: Annotated[
        OnProgress | None, Doc("Called with (bytes read, bytes of all input files) as files are read, in any thread.")
    ] = None

    def __post_init__(self) -> None:
        """Refuse what no option takes, alone or together with others."""
        super().__post_init__()
        if self.rank_list is not None:
            object.__setattr__(self, "rank_list", tuple(self.rank_list))
        if self.scheduler is not None:
            for name in ("workers", "memory_limit"):
                value = getattr(self, name)
                check(name, value, value is None, "nothing, a cluster has limits of its own")
            check("store", self.store, self.store is not None, "a folder that the workers of the cluster see too")


class Keywords(TypedDict, total=False):
    """The fields of ProfileOptions as keywords, for checkers and editors; a test holds both to each other."""

    step_id: int | None
    nesting_tolerance_ns: int
    module_source: ModuleSource
    module_domains: str | Iterable[str]
    by: By
    depth: int | None
    audit_links: bool
    peak_tflops: Peaks | None
    rank_list: Iterable[int] | None
    source: Source
    sql: str | Path | None
    workers: int | None
    threads: int | None
    memory_limit: int | None
    scheduler: str | None
    store: str | Path | None
    on_progress: OnProgress | None


def documented(options: type) -> Mapping[str, tuple[Any, Doc]]:
    """Return the type of each option and what it means, in the order of their declaration."""
    return {name: get_args(hint)[:2] for name, hint in get_type_hints(options, include_extras=True).items()}


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
    """Return what each option means, as the lines of a docstring."""
    lines = [f"{name}: {doc.meaning}" for name, (_, doc) in documented(ProfileOptions).items()]
    return "\n".join(fill(line, 116, subsequent_indent="    ") for line in lines)


def check(option: str, value: object, is_right: bool, expected: str) -> None:
    """Raise an InputError that names an option, its value and what it takes, unless the value is right."""
    if not is_right:
        raise InputError(f"{option}={value!r}: give {expected}")


def one_of(option: str, value: object, choices: Iterable[str]) -> None:
    """Raise an InputError unless the value of an option is one of the choices."""
    *others, last = choices
    check(option, value, value in (*others, last), f"{', '.join(others)} or {last}")


# What the SQL reads unless something else is said.
USUAL = Options()
