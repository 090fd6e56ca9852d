"""Collect a profile that can answer: marks of modules and attentions, a profiler with the switches that matter, or both
without a change to the program.

    with collect.profiler("result") as profiler:             python -m prof_analysis.collect -o result --steps 10-12 -- train.py
        for batch in batches:
            train(batch)
            profiler.step()

This file works alone, on Python 3.9 and later: `prof-analysis collect DIR` copies it to where the model runs. It
imports nothing but the standard library until it is used; torch, and torch_npu on Ascend, are those of the program.
"""

from __future__ import annotations

import atexit
import importlib.abc
import importlib.util
import inspect
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

# The domains of the marks; prof-analysis reads the first as modules, and others with --module-domain.
MODULE_DOMAIN = "Module"
QUALIFIED_DOMAIN = "QualifiedModule"
ATTENTION_DOMAIN = "flash_attn_args"
# What the processes below a run of this file have to do, as JSON.
VARIABLE = "PROF_ANALYSIS_COLLECT"
LEVELS = (0, 1, 2)


class CollectError(RuntimeError):
    """Collecting is impossible; the message says why, and what to do."""


# --- marks of modules ---------------------------------------------------------------------------------------------------------


@contextmanager
def modules(
    model: Any = None,
    *,
    classes: Collection[type | str] = (),
    depth: int | None = None,
    every: int = 1,
    names: str = "class",
) -> Iterator[None]:
    """Mark every call of a module while the block runs: a range from its begin to its end, also where forward raises.

    On Ascend the ranges are mstx ranges of the domain Module, else they are ranges of record_function named `Module:Linear`.
    Marks follow a call into any thread. What torch.compile or torch.jit traces is not marked, so that graphs stay as they are.
    A second block inside the first one changes nothing. Afterwards nn.Module is as it was.

    Args:
        model: mark only this module and those inside it; by default all.
        classes: mark only these classes, by name or as types.
        depth: mark only so many levels of calls inside each other, counted for each thread.
        every: mark only each k-th call of an outermost module, with all calls inside it, counted for each thread.
        names: "class", or "qualified": a second range of the domain QualifiedModule has the name in the outermost module, such
            as model.layers.17.mlp (the outermost one has that of its class). `--module-domain QualifiedModule` asks for them.

    Raises CollectError where an argument is out of range, or torch_npu is too old for mstx domains.
    """
    if every < 1 or (depth is not None and depth < 1):
        raise CollectError("collect.modules: every and depth count from 1")
    if names not in ("class", "qualified"):
        raise CollectError(f"collect.modules: names is {names!r}; it can be class or qualified")
    choice = _Choice(model, classes, depth, every, is_qualified=names == "qualified")
    with _marked(choice):
        yield


class _Choice:
    """Which calls are marked, and under which names."""

    def __init__(self, model: Any, classes: Collection[type | str], depth: int | None, every: int, is_qualified: bool) -> None:
        self.depth = depth
        self.every = every
        self._inside = None if model is None else weakref.WeakSet(model.modules())
        self._classes = {one if isinstance(one, str) else one.__name__ for one in classes}
        self._qualified: weakref.WeakKeyDictionary[Any, str] | None = weakref.WeakKeyDictionary() if is_qualified else None

    def is_of_model(self, module: Any) -> bool:
        """Return whether a module is the chosen one or inside it."""
        return self._inside is None or module in self._inside

    def names_of(self, module: Any, is_outermost: bool) -> tuple[tuple[str, str], ...]:
        """Return the ranges of a call, each as domain and name."""
        class_name = type(module).__name__
        if self._classes and class_name not in self._classes:
            return ()
        if self._qualified is None:
            return ((MODULE_DOMAIN, class_name),)
        if is_outermost and module not in self._qualified:
            self._qualified.update({one: name or class_name for name, one in module.named_modules()})
        return ((QUALIFIED_DOMAIN, self._qualified.get(module, class_name)), (MODULE_DOMAIN, class_name))


class _Calls(threading.local):
    """The calls of modules in a thread that have not ended, and the outermost ones so far."""

    open = 0
    outermost = 0
    are_marked = True


# Held while nn.Module is changed; whether it is.
_changing = threading.Lock()
_is_changed = False


@contextmanager
def _marked(choice: _Choice, on_outermost: Callable[[Any], None] = lambda _: None) -> Iterator[None]:
    """Replace nn.Module.__call__ while the block runs; where it is replaced already, do nothing.

    `on_outermost` is called before each outermost call. Where others have replaced __call__ meanwhile, theirs stays, and what
    is below it only passes calls on.
    """
    global _is_changed  # noqa: PLW0603 - nn.Module is one for the process
    module_class = _torch().nn.Module
    with _changing:
        if _is_changed:
            yield_only = True
        else:
            yield_only, _is_changed = False, True
            original = module_class.__call__
            replacement, stop = _marking(original, choice, on_outermost)
            module_class.__call__ = replacement
    try:
        yield
    finally:
        if not yield_only:
            with _changing:
                stop()
                if module_class.__call__ is replacement:
                    module_class.__call__ = original
                _is_changed = False


def _marking(
    original: Callable[..., Any], choice: _Choice, on_outermost: Callable[[Any], None]
) -> tuple[Callable[..., Any], Callable[[], None]]:
    """Return an nn.Module.__call__ that marks calls, and the function that makes it stop to."""
    calls = _Calls()
    is_traced = _is_traced()
    ranges: list[tuple[Callable[[str, str], Any], Callable[[str, Any], Any]]] = []
    is_on = [True]

    def marked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_traced() or not is_on[0] or not choice.is_of_model(self):
            return original(self, *args, **kwargs)
        if not ranges:  # Only now it is known that the accelerator is there: it may be imported after torch.
            ranges.append(_ranges())
        begin, end = ranges[0]
        level = calls.open
        if level == 0:
            on_outermost(self)
            calls.are_marked = calls.outermost % choice.every == 0
            calls.outermost += 1
        calls.open = level + 1
        opened = []
        try:
            if calls.are_marked and (choice.depth is None or level < choice.depth):
                for domain, name in choice.names_of(self, level == 0):
                    opened.append((domain, begin(domain, name)))
            return original(self, *args, **kwargs)
        finally:
            calls.open = level
            for domain, handle in reversed(opened):
                end(domain, handle)

    def stop() -> None:
        is_on[0] = False

    return marked, stop


def _is_traced() -> Callable[[], bool]:
    """Return the function that says whether a call is traced now: its ranges would become a part of the graph."""
    torch = _torch()
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None)
    is_tracing = torch.jit.is_tracing
    if is_compiling is None:
        return is_tracing  # type: ignore[no-any-return]
    return lambda: is_compiling() or is_tracing()


def _ranges() -> tuple[Callable[[str, str], Any], Callable[[str, Any], Any]]:
    """Return the functions that begin and end a range of a domain.

    mstx: torch_npu/npu/mstx.py of Ascend/pytorch, range_start(message, stream, domain) -> id and range_end(id, domain).
    Elsewhere torch.profiler.record_function, whose ranges Kineto writes as user_annotation. It takes microseconds, so it is
    left out while nothing is recorded; a recording that a daemon begins is not seen here.
    """
    npu = _torch_npu()
    if npu is None:
        state = _torch().autograd.profiler
        always = "KINETO_USE_DAEMON" in os.environ or not hasattr(state, "_is_profiler_enabled")

        def begin(domain: str, name: str) -> Any:
            if not (always or state._is_profiler_enabled):
                return None
            opened = state.record_function(f"{domain}:{name}")
            opened.__enter__()
            return opened

        def end(_domain: str, opened: Any) -> None:
            if opened is not None:
                opened.__exit__(None, None, None)

        return begin, end
    mstx = npu.npu.mstx
    if "domain" not in inspect.signature(mstx.range_start).parameters:
        raise CollectError(
            f"torch_npu {getattr(npu, '__version__', '')} has no mstx domains; collect with with_modules=True in place of marks"
        )
    return (
        lambda domain, name: mstx.range_start(name, domain=domain),
        lambda domain, range_id: mstx.range_end(range_id, domain=domain),
    )


# --- marks of attentions ------------------------------------------------------------------------------------------------------

# The arguments of npu_fusion_attention in their order (Ascend/op-plugin, npu_fusion_attention), and those that a mark holds.
_FUSION_ARGUMENTS = (
    *("query", "key", "value", "head_num", "input_layout", "pse", "padding_mask", "atten_mask", "scale", "keep_prob"),
    *("pre_tockens", "next_tockens", "inner_precise", "prefix", "actual_seq_qlen", "actual_seq_kvlen", "sparse_mode"),
)
_MARKED_ARGUMENTS = (
    "input_layout",
    "sparse_mode",
    "pre_tockens",
    "next_tockens",
    "prefix",
    "actual_seq_qlen",
    "actual_seq_kvlen",
)


@contextmanager
def attention() -> Iterator[None]:
    """Mark the arguments of each attention on Ascend, which `prof-analysis mfu` needs to count its FLOPs under a mask.

    A mark of the domain flash_attn_args before torch_npu.npu_fusion_attention and
    torch.nn.functional.scaled_dot_product_attention holds them as JSON. Elsewhere nothing is marked: the trace has the
    arguments of ops. Where a program has bound one of these functions to a name of its own before, its calls have no mark.
    """
    npu = _torch_npu()
    if npu is None:
        yield
        return
    functional = _torch().nn.functional
    with ExitStack() as stack:
        stack.enter_context(_replaced(npu, "npu_fusion_attention", _fusion_arguments))
        stack.enter_context(_replaced(functional, "scaled_dot_product_attention", _product_arguments))
        yield


def _fusion_arguments(*args: Any, **kwargs: Any) -> dict[str, Any]:
    given = {**dict(zip(_FUSION_ARGUMENTS, args)), **kwargs}  # noqa: B905 - strict came with Python 3.10
    found = {name: given[name] for name in _MARKED_ARGUMENTS if given.get(name) is not None}
    return {"input_layout": None, "sparse_mode": 0, **{name: _plain(value) for name, value in found.items()}}


def _product_arguments(*args: Any, **kwargs: Any) -> dict[str, Any]:
    is_causal = args[5] if len(args) > 5 else kwargs.get("is_causal", False)
    return {"is_causal": bool(is_causal)}


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, str)) else [int(one) for one in value]


@contextmanager
def _replaced(holder: Any, name: str, arguments_of: Callable[..., dict[str, Any]]) -> Iterator[None]:
    """Mark the arguments of a function of a module while the block runs."""
    original = getattr(holder, name, None)
    if original is None:
        yield
        return
    mark = _torch_npu().npu.mstx.mark
    is_traced = _is_traced()

    def marked(*args: Any, **kwargs: Any) -> Any:
        if not is_traced():
            # Without spaces: until July 2026 the profiler cut messages of more than 156 bytes.
            mark(json.dumps(arguments_of(*args, **kwargs), separators=(",", ":")), domain=ATTENTION_DOMAIN)
        return original(*args, **kwargs)

    setattr(holder, name, marked)
    try:
        yield
    finally:
        if getattr(holder, name) is marked:
            setattr(holder, name, original)


# --- the profiler -------------------------------------------------------------------------------------------------------------

# What each level adds to the one before.
_ADDS = ("ops, kernels, communication and modules", "shapes, and counters on Ascend", "Python stacks and memory")


@contextmanager
def profiler(
    out: str | os.PathLike[str],
    *,
    level: int = 1,
    ranks: Collection[int] | None = None,
    schedule: Mapping[str, int] | None = None,
) -> Iterator[Any]:
    """Record the block into the folder `out`, with modules marked, and yield the recording; its step() ends a step.

    Where the profiler fails, one line says so, nothing more is recorded, and the block goes on.

    Args:
        level: 0 records ops, kernels, communication and modules, at the least cost. 1 also records shapes and, on Ascend, level
            1 of the profiler with counters of the pipes. 2 also records Python stacks and memory, and takes much longer.
        ranks: record only on these ranks (of torch.distributed, else of RANK); on the others step() does nothing.
        schedule: the arguments of torch.profiler.schedule (wait, warmup, active, repeat, skip_first); by default all is
            recorded.

    On Ascend it is torch_npu.profiler.profile with mstx, as database and as text; elsewhere torch.profiler.profile. Raises
    CollectError for a level that there is not.
    """
    if level not in LEVELS:
        raise CollectError(f"collect.profiler: level is {level!r}; it can be 0, 1 or 2")
    rank = rank_of_process()
    if ranks is not None and rank not in ranks:
        yield SimpleNamespace(step=lambda: None)
        return
    recording = _Recording(out, level, schedule)
    if recording.start():
        _say(f"rank {rank} records {_recorded(level)}")
    try:
        with modules():
            yield recording
    finally:
        if recording.stop():
            _say(f"wrote {out}; {_what_next(out)}")


class _Recording:
    """A profiler whose failures end the recording, and never the program: a line says what failed."""

    def __init__(self, out: str | os.PathLike[str], level: int, schedule: Mapping[str, int] | None = None) -> None:
        self._level, self._schedule = level, schedule
        self._out = Path(out)
        self._began = time.time()
        self._profiler: Any = None

    def start(self) -> bool:
        """Begin to record; return whether it does."""

        def begin() -> None:
            self._profiler = recorder(self._out, self._level, self._schedule)
            self._profiler.start()

        return self._tried("start", begin)

    def step(self) -> None:
        """End a step."""
        if self._profiler is not None:
            self._tried("step", self._profiler.step)

    def stop(self) -> bool:
        """Write the recording; return whether the profiler wrote any file."""
        if self._profiler is None or not self._tried("stop", self._profiler.stop):
            return False
        self._profiler = None
        has_files = any(one.is_file() and one.stat().st_mtime > self._began - 2 for one in self._out.rglob("*"))
        if not has_files:
            _say(f"the profiler wrote nothing into {self._out}")
        return has_files

    def _tried(self, what: str, call: Callable[[], object]) -> bool:
        try:
            call()
        except Exception as error:  # The program must run, whatever is wrong here.
            failed, self._profiler = self._profiler, None
            if failed is not None and what != "stop":
                with suppress(Exception):
                    failed.stop()
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            _say(
                f"rank {rank_of_process()}: the profiler failed in {what} ({reason}); nothing is recorded, the program goes on"
            )
            return False
        return True


def recorder(out: str | os.PathLike[str], level: int, schedule: Mapping[str, int] | None = None) -> Any:
    """Return the profiler of the accelerator at hand, with the switches of a level; it is not begun."""
    folder = str(out)
    npu = _torch_npu()
    own = _torch().profiler if npu is None else npu.profiler
    given: dict[str, Any] = {
        "on_trace_ready": own.tensorboard_trace_handler(folder),
        "record_shapes": level >= 1,
        "with_stack": level >= 2,
        "profile_memory": level >= 2,
    }
    if schedule is not None:
        given["schedule"] = own.schedule(**schedule)
    if npu is not None:
        given["activities"] = [own.ProfilerActivity.CPU, own.ProfilerActivity.NPU]
        given["experimental_config"] = own._ExperimentalConfig(**_ascend_switches(own, level))
    return own.profile(**given)


def _ascend_switches(own: Any, level: int) -> dict[str, Any]:
    """Return the arguments of _ExperimentalConfig (torch_npu/profiler/experimental_config.py of Ascend/pytorch) for a level."""
    known = inspect.signature(own._ExperimentalConfig.__init__).parameters
    levels = own.ProfilerLevel
    switches: dict[str, Any] = {"profiler_level": (levels.Level0, levels.Level1, levels.Level2)[level]}
    if level >= 1:
        switches["aic_metrics"] = own.AiCMetrics.PipeUtilization
    if level >= 2:
        switches["l2_cache"] = True
    return {**switches, **_marks_and_databases(own, known)}


def _marks_and_databases(own: Any, known: Collection[str], given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the switches for marks and databases, beside those that are given, as the installed torch_npu names them."""
    given = given or {}
    # Until torch_npu 7.1 the switch was msprof_tx, and one type of export could be chosen.
    marks = {"mstx": True} if "mstx" in known else {"msprof_tx": True}
    wanted = [own.ExportType.Text, own.ExportType.Db]
    chosen = given.get("export_type")
    if isinstance(chosen, (list, tuple)):
        wanted = [*chosen, *(one for one in (own.ExportType.Db,) if one not in chosen)]
    elif chosen is not None:
        wanted = [chosen, *(one for one in (own.ExportType.Db,) if one != chosen)]
    several = {"export_type": wanted if "mstx" in known else own.ExportType.Db}
    include = given.get("mstx_domain_include")
    if include:
        several["mstx_domain_include"] = list(dict.fromkeys([*include, MODULE_DOMAIN, QUALIFIED_DOMAIN, ATTENTION_DOMAIN]))
    return {**marks, **several}


def rank_of_process() -> int:
    """Return the rank in torch.distributed, else that of the variable RANK, else 0."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank())
    rank = os.environ.get("RANK", "0")
    return int(rank) if rank.isdigit() else 0


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise CollectError(f"torch cannot be imported ({error}); collect where the model runs") from error
    import torch.nn
    import torch.profiler

    return torch


def _torch_npu() -> Any:
    """Return torch_npu where it is installed, else None."""
    if "torch_npu" not in sys.modules and importlib.util.find_spec("torch_npu") is None:
        return None
    import torch_npu

    return torch_npu


def _say(sentence: str) -> None:
    sys.stderr.write(f"collect: {sentence}\n")


def _recorded(level: int) -> str:
    more = f"; level {level + 1} adds {_ADDS[level + 1]}" if level < LEVELS[-1] else ""
    return f"{', '.join(_ADDS[: level + 1])}{more}"


# The folders in which prof-analysis looks for recordings of captures, beside those of the replays.
_OF_CAPTURES = ("graph_capture_profile", "capture_traces")


def _what_next(out: str | os.PathLike[str]) -> str:
    """Return what to do with a recording: of the capture of graphs, record the replays too; of all else, ask.

    Modules need kernels, which a CPU does not have.
    """
    if Path(out).name in _OF_CAPTURES:
        return f"record the replays into {Path(out).resolve().parent} next: their kernels get the modules of these graphs"
    has_kernels = _torch_npu() is not None or _torch().cuda.is_available()
    return f"ask: prof-analysis {'module-stats' if has_kernels else 'mstx-stats'} -d {out}"


# --- without a change to the program ------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a program with marks and switches put into it and into the processes that it starts; return its exit code."""
    options, program = _parsed(sys.argv[1:] if arguments is None else arguments)
    with tempfile.TemporaryDirectory(prefix="prof-analysis-collect-") as folder:
        (Path(folder) / "sitecustomize.py").write_text(_SITECUSTOMIZE, encoding="utf-8")
        path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
        settings = json.dumps({**options, "file": str(Path(__file__).resolve()), "folder": folder})
        run = subprocess.Popen([sys.executable, *program], env={**os.environ, "PYTHONPATH": path, VARIABLE: settings})
        # A terminal sends Ctrl-C to both; what is sent to this process alone goes on to the program.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda number, _: run.send_signal(number))
        code = run.wait()
        recorded = Path(folder) / _RECORDED
        next_ = recorded.read_text(encoding="utf-8") if recorded.exists() else None
        has_failed = (Path(folder) / _FAILED).exists()
    if next_ is not None:
        _say(f"wrote {options['out']}; {next_}")
    elif options["steps"] is not None and code == 0 and not has_failed:
        _say("nothing was recorded; were there as many steps, and a rank that --ranks names?")
        return 1
    return 128 - code if code < 0 else code


# The file in which a process leaves what to do with its recording.
_RECORDED = "recorded"
# The file that says that a process has told why its profiler failed.
_FAILED = "failed"


# Python imports sitecustomize when it starts. This one begins collecting, and then imports the one that it hides.
_SITECUSTOMIZE = """import importlib.machinery, importlib.util, json, os, sys
settings = json.loads(os.environ["PROF_ANALYSIS_COLLECT"])
spec = importlib.util.spec_from_file_location("prof_analysis_collect", settings["file"])
collect = sys.modules["prof_analysis_collect"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(collect)
collect.begin(settings)
others = [one for one in sys.path if os.path.abspath(one or ".") != os.path.abspath(settings["folder"])]
hidden = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
if hidden is not None:
    hidden.loader.exec_module(importlib.util.module_from_spec(hidden))
"""


def _parsed(arguments: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    import argparse

    parser = argparse.ArgumentParser(
        prog="python -m prof_analysis.collect",
        usage="%(prog)s [options] -- SCRIPT ... | -- -m MODULE ...",
        description="Run a Python program with its modules marked and with the switches of the profiler that answers need, "
        "also in the processes that it starts. With --steps its steps are recorded; else its own profiler records.",
        epilog="Of a server that captures its model as graphs, record the first steps, with which the capture begins, into a "
        "folder graph_capture_profile, and the replays beside it: prof-analysis takes their modules from there.",
    )
    parser.add_argument("--steps", metavar="A-B", help="record these steps, from 0: of the optimizer, or calls of the model")
    parser.add_argument("-o", "--out", default="result", help="the folder to record into (result)")
    parser.add_argument(
        "--level", type=int, default=1, choices=LEVELS, help="how much to record: 0 least, 2 stacks and memory (1)"
    )
    parser.add_argument("--ranks", metavar="IDS", help="record only on these ranks, such as 0,8")
    parser.add_argument("--delay", type=float, default=0, metavar="SECONDS", help="count steps only after so many seconds")
    parser.add_argument(
        "--names", default="class", choices=("class", "qualified"), help="mark also model.layers.17.mlp (class)"
    )
    parser.add_argument("--depth", type=int, help="mark only so many levels of modules")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="mark each k-th call of the model (1)")
    parser.add_argument("--no-attention", action="store_true", help="do not mark the arguments of attentions")
    arguments = list(arguments)
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    options = vars(parser.parse_args(arguments[:cut]))
    program = arguments[cut + 1 :]
    if not program:
        parser.error("name the program after --, such as: -- train.py --epochs 1")
    if options["every"] < 1 or (options["depth"] is not None and options["depth"] < 1):
        parser.error("--every and --depth count from 1")
    try:
        options["steps"] = _span(options["steps"])
        options["ranks"] = None if options["ranks"] is None else [int(one) for one in options["ranks"].split(",")]
    except ValueError:
        parser.error("--steps takes numbers such as 10-12, --ranks such as 0,8")
    options["out"] = str(Path(options["out"]).resolve())
    return options, program


def _span(text: str | None) -> list[int] | None:
    if text is None:
        return None
    first, _, last = text.partition("-")
    span = [int(first), int(last or first)]
    if not 0 <= span[0] <= span[1]:
        raise ValueError(text)
    return span


def begin(settings: Mapping[str, Any]) -> None:
    """Wait in this process for torch and torch_npu, and put marks and switches into them as soon as they are imported."""
    sys.meta_path.insert(
        0, _Waiting({"torch": lambda: _begin_marks(settings), "torch_npu": lambda: _begin_on_ascend(settings)})
    )


class _Waiting(importlib.abc.MetaPathFinder):
    """A finder of modules that calls a function after the first import of some of them."""

    def __init__(self, then: Mapping[str, Callable[[], None]]) -> None:
        self._then = dict(then)
        self._is_looking = False

    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None) -> Any:
        """Return the spec of a module that is waited for, found by the other finders; None for all others."""
        if name not in self._then or self._is_looking:
            return None
        self._is_looking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._is_looking = False
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_then(module: ModuleType) -> None:
            execute(module)
            then = self._then.pop(name, lambda: None)  # Who only looks whether there is such a module imports nothing.
            try:
                then()
            except Exception as error:  # The program must run, whatever is wrong here.
                _say(f"nothing is put into {name}: {error}")

        spec.loader.exec_module = execute_then  # type: ignore[method-assign]
        return spec


# What is entered in a process for as long as it runs.
_entered = ExitStack()


def _begin_marks(settings: Mapping[str, Any]) -> None:
    """Mark modules and attentions until the process ends, and record steps where they are chosen."""
    choice = _Choice(None, (), settings["depth"], settings["every"], is_qualified=settings["names"] == "qualified")
    steps = None if settings["steps"] is None else _Steps(settings)
    _entered.enter_context(_marked(choice, steps.on_call if steps is not None else lambda _: None))
    if steps is not None:
        steps.count_those_of_optimizers()
        atexit.register(steps.end)


def _begin_on_ascend(settings: Mapping[str, Any]) -> None:
    """Mark attentions until the process ends, and add switches to configurations of the profiler."""
    _add_switches()
    if not settings["no_attention"]:
        _entered.enter_context(attention())


def _add_switches() -> None:
    """Let every _ExperimentalConfig have marks and databases: vLLM-Ascend and SGLang leave them out."""
    own = sys.modules["torch_npu"].profiler
    original = own._ExperimentalConfig
    known = inspect.signature(original.__init__).parameters

    class _ExperimentalConfig(original):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            names = [name for name in known if name != "self"]
            given = {**dict(zip(names, args)), **kwargs}  # noqa: B905 - strict came with Python 3.10
            super().__init__(**{**given, **_marks_and_databases(own, known, given)})

    _ExperimentalConfig.__name__ = _ExperimentalConfig.__qualname__ = original.__name__
    own._ExperimentalConfig = _ExperimentalConfig


class _Steps:
    """Counts the steps of the thread that runs the model, and records those that are chosen.

    A step of training ends when its optimizer has stepped (of several, the first one that did), so that the parts of a batch
    are one step. Otherwise each call of the outermost module is a step, which ends when the next one begins.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._first, self._last = settings["steps"]
        self._out, self._level, self._ranks = settings["out"], settings["level"], settings["ranks"]
        self._folder = Path(settings["folder"])
        self._counts_from = time.monotonic() + settings["delay"]
        self._thread: int | None = None
        self._optimizer: weakref.ref[Any] | None = None
        self._step = 0
        self._is_in_step = False
        self._recording: _Recording | None = None
        self._is_done = False

    def count_those_of_optimizers(self) -> None:
        """Let steps of optimizers end steps."""
        from torch.optim import optimizer

        optimizer.register_optimizer_step_post_hook(lambda stepped, _args, _kwargs: self.on_optimizer(stepped))

    def on_call(self, module: Any) -> None:
        """Begin a step with a call of an outermost module, or go on with it."""
        if self._is_done or time.monotonic() < self._counts_from:
            return
        if self._thread is None:
            self._thread = threading.get_ident()
        if self._thread != threading.get_ident():
            return
        trains = module.training and _torch().is_grad_enabled()
        if self._is_in_step and not trains and self._optimizer is None:
            self._end_step()
        self._is_in_step = True
        if self._step == self._first and self._recording is None and not self._is_done:
            self._begin_recording()

    def on_optimizer(self, optimizer: Any) -> None:
        """End a step of training."""
        if self._optimizer is None:
            self._optimizer = weakref.ref(optimizer)
        if self._is_in_step and self._optimizer() is optimizer:
            self._end_step()

    def end(self) -> None:
        """Write the recording, if there is one."""
        if self._recording is not None:
            recording, self._recording = self._recording, None
            is_written = recording.stop()
            if is_written and self._step < self._last:
                _say(f"the program ended in step {self._step}, before step {self._last}")
            self._note(is_written)
        self._is_done = True

    def _begin_recording(self) -> None:
        rank = rank_of_process()
        if self._ranks is not None and rank not in self._ranks:
            self._is_done = True
            return
        self._recording = _Recording(self._out, self._level)
        if self._recording.start():
            _say(f"rank {rank} records steps {self._first} to {self._last}: {_recorded(self._level)}")
        else:
            self._recording, self._is_done = None, True
            self._note(is_written=False)

    def _note(self, is_written: bool) -> None:
        """Leave word to the process that started the program, as far as its folder can be written."""
        with suppress(OSError):
            (self._folder / (_RECORDED if is_written else _FAILED)).write_text(_what_next(self._out), encoding="utf-8")

    def _end_step(self) -> None:
        self._is_in_step = False
        if self._recording is not None:
            if self._step == self._last:
                self.end()
            else:
                self._recording.step()
        self._step += 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CollectError as error:
        sys.exit(f"collect: {error}")
