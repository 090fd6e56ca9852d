"""The options that change answers: each is declared once, here, with its type, its default and its meaning.

The fields of Options are the variables that the SQL reads with getvariable(). The others are in common/options.py.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args, get_origin

from prof_analysis.common.aliases import read_aliases
from prof_analysis.common.benchmark_results import read_requests
from prof_analysis.common.option_docs import ANSWER, COMPARE, INPUT, MODULES, Doc, check, check_path, documented, one_of

# The variables that the SQL reads with getvariable().
Variables = Mapping[str, int | bool | str | list[str] | None]
ModuleSource = Literal["auto", "mstx", "nn.Module"]
Per = Literal["step", "call", "run"]
Peaks = Mapping[str, float] | Literal["published"]

# The data types that a peak can be given for, by their names in mfu.shape.
_DATA_TYPES = (
    "fp16", "bf16", "fp8", "hf32", "tf32", "fp32", "fp64", "int8", "int4", "hifloat8", "float8_e4m3fn", "float8_e5m2",
    "float4_e2m1", "float4_e1m2"
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options that change answers: the values that the SQL reads."""

    step_id: Annotated[int | None, Doc("Use only the kernels that were launched in this profiler step.", INPUT)] = None
    nesting_tolerance_ns: Annotated[
        int,
        Doc(
            "Count a range or op as inside another one even if it ends up to this many ns later.",
            MODULES,
            at_least=0,
            is_rare=True,
        ),
    ] = 0
    module_source: Annotated[
        ModuleSource,
        Doc(
            "Where modules come from: mstx (ranges) or nn.Module (calls that the Python tracer recorded); auto takes mstx if "
            "there are such ranges.",
            MODULES,
            value="KIND",
            is_rare=True,
        ),
    ] = "auto"
    module_domains: Annotated[
        str | Iterable[str],
        Doc(
            "Take the start/end ranges of these domains of mstx as modules.",
            MODULES,
            spelled="Module,Custom",
            value="NAMES",
            is_rare=True,
        ),
    ] = ("Module",)
    instances: Annotated[
        bool,
        Doc(
            "Take each module by itself, where siblings are numbered in the order of their calls, as in Layer[3]/Linear[0]; by "
            "default modules with the same chain of classes are one.",
            MODULES,
        ),
    ] = False
    depth: Annotated[
        int | None,
        Doc(
            "Merge modules that are deeper in the tree than this into the module above them.",
            MODULES,
            at_least=1,
        ),
    ] = None
    audit_links: Annotated[
        bool,
        Doc(
            "Work out the op of every kernel launch, not only where the recorded link is doubtful, and report where both "
            "differ (table module.link_audit).",
            MODULES,
            is_rare=True,
        ),
    ] = False
    capture: Annotated[
        str | Path | None,
        Doc(
            "Take the ops and modules of replayed graphs from this recording of their capture, or this folder of recordings; "
            "by default from the folders in which SGLang and vLLM write them, beside the profiles.",
            INPUT,
            is_rare=True,
        ),
    ] = None
    filter: Annotated[
        str | None,
        Doc(
            "Show and write only ops, or types of kernels, whose name contains this text, in upper or lower case; of ops also "
            "those that launched an operator of such a name. Shares stay those of all.",
            ANSWER,
            spelled="aten::",
            value="TEXT",
        ),
    ] = None
    under: Annotated[
        str | None,
        Doc(
            "Use only Python stacks with a frame that contains this text, in upper or lower case, from that frame on.",
            ANSWER,
            spelled="model.py",
            value="TEXT",
        ),
    ] = None
    module: Annotated[
        str | None,
        Doc(
            "Use only the work of this module, in forward and backward, and of the modules inside it.",
            ANSWER,
            spelled="Layer/Linear",
            value="NAME",
        ),
    ] = None
    python_frames: Annotated[bool, Doc("Show calls of Python functions on timelines too; there may be millions.", ANSWER)] = (
        False
    )
    user_code: Annotated[bool, Doc("Leave frames of PyTorch and of Python itself out of Python stacks.", ANSWER)] = False
    peak_tflops: Annotated[
        Peaks | None,
        Doc(
            "The peaks for MFU by data type, in TFLOPS; or published, which takes those of the table mfu.published_peak; by "
            "default a peak is cores x clock x operations per core and cycle, or of a GPU that of its data sheet.",
            ANSWER,
            spelled="fp16=376,bf16=353.9",
            value="PEAKS",
        ),
    ] = None
    thresholds: Annotated[
        Mapping[str, float] | None,
        Doc(
            "From which figures on rules of advice find something; the table advice.threshold has all.",
            ANSWER,
            spelled="every.least_share=0.01",
            value="VALUES",
        ),
    ] = None
    requests: Annotated[
        str | Path | Mapping[str, Any] | None,
        Doc(
            "The result of the benchmark that sent the requests, to compare with the passes: a file of `vllm bench serve` "
            "(--save-result --save-detailed) or of SGLang's bench_serving (--output-details), or what it holds; or the folder "
            "of msServiceProfiler with request.csv, batch.csv and others.",
            ANSWER,
            value="FILE",
        ),
    ] = None
    per: Annotated[
        Per,
        Doc(
            "The unit of the figures of a comparison: steps, calls of the outermost module, or whole runs, rank by rank.",
            COMPARE,
        ),
    ] = "step"
    skip_steps: Annotated[
        Iterable[int], Doc("Leave these steps out of a comparison, in every run.", COMPARE, spelled="1,2", value="STEPS")
    ] = ()
    alias: Annotated[
        str | Path | Mapping[str, str] | None,
        Doc(
            "A csv file with the columns base and new, or a mapping: classes or paths of modules that have other names in the "
            "new run, where * stands for a part of a name.",
            COMPARE,
            value="FILE",
        ),
    ] = None
    rank_map: Annotated[
        Mapping[int, int] | None,
        Doc(
            "Which rank of the new run a rank of the base is compared with; by default the one with the same id.",
            COMPARE,
            spelled="0=4,1=5",
            value="PAIRS",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Refuse values that an option does not take, so that no other code has to check."""
        for name, (type_, doc) in documented(type(self)).items():
            value = getattr(self, name)
            if get_origin(type_) is Literal:
                one_of(name, value, get_args(type_))
            if type_ in (int, int | None):
                check(name, value, value is None or hasattr(value, "__index__"), "a whole number")
            if doc.at_least is not None:
                check(name, value, value is None or value >= doc.at_least, f"{doc.at_least} or more")
        for name in ("capture", "requests", "alias", "sql", "cache"):
            check_path(name, getattr(self, name, None))
        object.__setattr__(self, "module_domains", self.domains)  # An iterator yields its elements only once.
        check("capture", str(self.capture), self.capture is None or Path(self.capture).exists(), "a file or folder that exists")
        object.__setattr__(self, "skip_steps", step_numbers(self.skip_steps))
        ranks = (
            (*(self.rank_map or {}).keys(), *(self.rank_map or {}).values())
            if isinstance(self.rank_map or {}, Mapping)
            else "?"
        )
        check(
            "rank_map", self.rank_map, all(isinstance(rank, int) for rank in ranks), "ranks of the new run by those of the base"
        )
        object.__setattr__(self, "alias", read_aliases(self.alias))
        object.__setattr__(self, "requests", read_requests(self.requests) or None)
        check("filter", self.filter, self.filter != "", "a part of a name")
        check("under", self.under, self.under != "", "a part of a frame")
        check("module", self.module, self.module != "", "the name of a module")
        check("module_domains", self.domains, all(self.domains) and bool(self.domains), "at least one domain")
        for name, value in (self.thresholds or {}).items():
            is_right = re.fullmatch(r"\w+\.\w+", name) is not None and isfinite(value)
            check("thresholds", f"{name}={value}", is_right, "a number for rule.name, as the table advice.threshold has them")
        if isinstance(self.peak_tflops, str):
            check("peak_tflops", self.peak_tflops, self.peak_tflops == "published", "'published' or a peak by data type")
            return
        for data_type, tflops in (self.peak_tflops or {}).items():
            is_right = data_type in _DATA_TYPES and 0 < tflops < 1_000_000
            expected = f"a positive number for one of {', '.join(_DATA_TYPES)}"
            check("peak_tflops", f"{data_type}={tflops}", is_right, expected)

    @property
    def domains(self) -> tuple[str, ...]:
        """The mstx domains of modules as a tuple; a single domain may be given as a text."""
        return (self.module_domains,) if isinstance(self.module_domains, str) else tuple(self.module_domains)

    @property
    def marks(self) -> tuple[str, ...]:
        """The kinds of marks that may mark modules; the first one that a profile has does. module.range has the same rule."""
        return ("mstx", "nn.Module") if self.module_source == "auto" else (self.module_source,)

    def variables(self) -> Variables:
        """Return the values that the SQL reads, by the names of the fields; peaks are a list of texts such as fp16=376.0."""
        if isinstance(self.peak_tflops, str):
            peaks = [str(self.peak_tflops)]
        else:
            peaks = [f"{data_type}={float(tflops)}" for data_type, tflops in sorted((self.peak_tflops or {}).items())]
        # The files of a capture are among the inputs of the ranks.
        values = {field.name: getattr(self, field.name) for field in fields(Options) if field.name != "capture"}
        return {
            **values,
            "module_domains": list(self.domains),
            "peak_tflops": peaks,
            "thresholds": [f"{name}={float(value)}" for name, value in sorted((self.thresholds or {}).items())],
            "requests": list(read_requests(self.requests)),
            "skip_steps": [str(step) for step in sorted(set(self.skip_steps))],
            "alias": [name for pair in read_aliases(self.alias).items() for name in pair],
            "rank_map": [f"{base}={new}" for base, new in sorted((self.rank_map or {}).items())],
        }


def step_numbers(steps: object) -> tuple[int, ...]:
    """Return numbers of steps as a tuple; raise InputError for anything else."""
    numbers = tuple(steps) if isinstance(steps, Iterable) else (steps,)
    check("skip_steps", steps, all(isinstance(one, int) for one in numbers), "numbers of steps")
    return cast(tuple[int, ...], numbers)


# The options by default.
USUAL = Options()
