"""Finds traces of Kineto by their content, and their capabilities, without parsing them."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from prof_analysis.common.answer_options import Options
from prof_analysis.common.capabilities import CAPABILITIES, lacking
from prof_analysis.common.errors import InputError
from prof_analysis.sources.found import WRITTEN, Found
from prof_analysis.sources.identity import Identity, times_in
from prof_analysis.sources.kineto.annotations import is_of_annotations
from prof_analysis.sources.kineto.around import JOB, around_events, time_base, unread_around
from prof_analysis.sources.kineto.companions import RANK_IN_NAME, SUFFIXES, capture_folders, companions_of, is_capture
from prof_analysis.sources.rank import Rank, number, readable
from prof_analysis.sources.readers.cut_off import said_of_cut
from prof_analysis.sources.readers.marks import ANYTHING, Marks, found_marks
from prof_analysis.sources.readers.trace_file import begin_of, is_of_kineto

_MOST_RANKS = 10**6
_LONGEST_TIME = 24
_OWN_COLLECTIVES = (
    *("cross_device_reduce_", "all_reduce_kernel", "allreduce_fusion_kernel", "allreduce_prototype", "shotAll", "ShotAll"),
    *("deep_ep::", "dpsk::ep::", "mscclpp", "shmem", "moeA2A", "EpDispatch"),
)
_CATEGORY = rb'"cat"\s*:\s*"(?:%s)"'
# What was allocated in all is recorded since 2021; the type of a CPU is 0.
_TOTALS = rb'"Device Type"\s*:\s*[1-9][^{}]*"Total Allocated"|"Total Allocated"[^{}]*"Device Type"\s*:\s*[1-9]'
_MARKS: Marks = {
    "ops": (b"", _CATEGORY % b"cpu_op|Operator"),
    "kernels": (b"", _CATEGORY % b"[Kk]ernel|gpu_mem(?:cpy|set)|Mem(?:cpy|set)|mtia_ccp_events"),
    "counter ranges": (b'"cuda_profiler_range"', ANYTHING),
    "compute": (b"", _CATEGORY % b"[Kk]ernel|mtia_ccp_events"),
    "communication": (b"ccl", rb'"name"\s*:\s*"[^"]*[nr]ccl[A-Za-z]*Kernel|"Collective name"'),
    "host calls": (b"", _CATEGORY % b"cuda_runtime|cuda_driver|Runtime"),
    # Collectives that are not of NCCL or RCCL.
    **{name: (name.encode(), ANYTHING) for name in _OWN_COLLECTIVES},
    "stacks": (b"", rb'"Call stack"|"cat"\s*:\s*"python_function"\s*,\s*"name"\s*:\s*"(?!nn\.Module: )'),
    "marks": (b"user_annotation", ANYTHING),
    "shapes": (b'"Input Dims"', ANYTHING),
    "occupancy": (b'warps per SM"', ANYTHING),
    "graphs": (b"raph", rb'GraphLaunch|"graph node id"'),
    "annotated": (b'"module_fqn"', ANYTHING),
    "memory": (b'"[memory]"', ANYTHING),
    "memory of devices": (b'"Device Type"', rb'"Device Type"\s*:\s*[1-9]'),
    "totals of memory": (b'"Total Allocated"', _TOTALS),
}

_NO_OPS = "no ops; record them with ProfilerActivity.CPU"
_NO_KERNELS = "no kernels; record them with ProfilerActivity.CUDA (if anything ran on the device)"
# Kineto divides the recording evenly among them: addRangeEvents() of its libkineto/src/CuptiRangeProfiler.cpp.
_COUNTER_RANGES = (
    "no kernels: ranges of counters (cuda_profiler_range) are in their place, and Kineto does not measure the time of these; "
    "record once more without profiler_metrics"
)
_NO_MODULES = "no nn.Module rows and no ranges of {}; set with_stack=True of torch.profiler.profile"
_OF_GRAPHS = "; for replayed graphs, give a recording of their capture (--capture)"
_NO_COMMUNICATION = "no collectives of NCCL, RCCL or others that are known"
_NO_COUNTERS = "no occupancy of kernels, which torch.profiler records on NVIDIA alone"
_NO_SHAPES = "no shapes of ops; set record_shapes=True of torch.profiler.profile"
_NO_HOST_CALLS = "no calls into CUDA or HIP; record them with ProfilerActivity.CUDA"
_NO_MEMORY = f"no {CAPABILITIES['memory']}; set profile_memory=True of torch.profiler.profile"
_NO_TOTALS = (
    "the records of device memory have no totals (PyTorch of 2021 wrote bytes alone), so the live blocks are not known; record "
    "it with a newer PyTorch"
)
_ONLY_CPU = f"no {CAPABILITIES['memory']}: those in the trace are of the CPU (if anything was allocated on the device)"
_NO_STACKS = f"no {CAPABILITIES['stacks']}; set with_stack=True of torch.profiler.profile"
_NO_MARKS = "no ranges; put torch.profiler.record_function around what you want to see"
_NO_GRAPH_CALLS = "no graphs of TorchAir, which compiles for NPUs alone"


def find(folder: Path, is_folder: Mapping[str, bool]) -> Found:
    """Find the traces in a folder, by the first bytes of its JSON files. Timelines that were written there are none."""
    if folder.name.startswith(WRITTEN):
        return Found()
    files = [folder / name for name in sorted(is_folder) if not is_folder[name] and name.endswith(SUFFIXES)]
    traces = [file for file in files if is_of_kineto(file)]
    # A folder that holds recordings of captures alone is one that the user names.
    ranks = [file for file in traces if not is_capture(file)] or traces
    return Found(tuple(ranks), capture_folders(folder, is_folder))


def takes(file: Path) -> bool:
    """Return whether a single file is a trace of Kineto."""
    return file.name.endswith(SUFFIXES) and is_of_kineto(file)


def inspect(result: Path, profile: str, options: Options) -> list[Rank]:
    """Return the rank of a trace; it is left out where it cannot be read."""
    try:
        around = around_events(result)
        marks = found_marks(result, {**_MARKS, **_marks_of_modules(options)})
    except InputError as error:
        return [Rank(profile, result, inputs=(result,), files=(readable(Path(result.name)),), left_out=str(error))]
    rank_id, rank_id_from = _rank_of(result, around)
    companions = companions_of(result, rank_id, options.capture) if "graphs" in marks else ()
    has_replayed_modules = bool(companions) or "annotated" in marks
    has_captures = any(not is_of_annotations(one) for one in companions)
    reasons = _reasons(marks, options, has_replayed_modules=has_replayed_modules, has_captures=has_captures)
    lacks_events = any(reason and reason not in (_NO_GRAPH_CALLS, _NO_COUNTERS) for reason in reasons.values())
    cut = said_of_cut(result, marks) if lacks_events else None
    if cut is not None:
        reasons = {name: cut if reason and reason != _NO_GRAPH_CALLS else reason for name, reason in reasons.items()}
    modules_from = next((mark for mark in options.marks if mark in marks), "replayed graphs" if has_replayed_modules else None)
    return [
        Rank(
            profile,
            result,
            inputs=(result, *companions),
            rank_id=rank_id,
            rank_id_from=rank_id_from,
            files=tuple(readable(Path(file.name)) for file in (result, *companions)),
            lacks=lacking(reasons),
            missing=tuple(dict.fromkeys(reason for reason in reasons.values() if reason and reason != _NO_GRAPH_CALLS)),
            unread=unread_around(result),
            modules_from=modules_from,
            is_cut_off=cut is not None,
        )
    ]


def job_of(rank: Rank) -> tuple[int, str | None] | None:
    """Return the number of ranks of the job; None where the trace does not say it."""
    job = around_events(rank.inputs[0]).get(JOB)
    size = job.get("world_size") if isinstance(job, dict) else None
    return (size, None) if isinstance(size, int) else None


def least_ranks_of(rank: Rank) -> int | None:  # noqa: ARG001
    """Return None: a trace that names ranks has the number of all."""
    return None


def usual_files_of(rank: Rank) -> frozenset[str]:
    """Return what a trace says around its events of the job that the rank is of; else it is all that there is of a rank."""
    return frozenset({JOB} if isinstance(around_events(rank.inputs[0]).get(JOB), dict) else ())


def end_of(rank: Rank) -> int | None:  # noqa: ARG001
    """Return None: a trace does not say when the recording ended."""
    return None


def host_of(rank: Rank) -> str | None:
    """Return the name of the host that the rank ran on."""
    host = around_events(rank.inputs[0]).get("host_name")
    return host if isinstance(host, str) and host else None


def identity_of(rank: Rank) -> Identity:
    """Return the identity of a rank by its trace."""
    trace = rank.inputs[0]
    around = around_events(trace)
    job = around.get(JOB)
    said = number(job.get("rank")) if isinstance(job, dict) else None
    size = job.get("world_size") if isinstance(job, dict) else None
    in_name = [int(found) for found in RANK_IN_NAME.findall(trace.name)][-1:]
    # Some number their files by the ranks of a host: rank 8 of the job is the first one of a host of up to 8.
    is_of_host = said is not None and in_name != [] and said > 2 * in_name[0]
    times = times_in(begin_of(trace))
    properties = around.get("deviceProperties")
    names = {str(one.get("name")) for one in properties if isinstance(one, dict)} if isinstance(properties, list) else set()
    moment = _first_moment(around, times)
    return Identity(
        numbers={
            **({} if said is None else {JOB: said}),
            **({trace.name: in_name[0]} if in_name and not is_of_host else {}),
        },
        recording=None if moment is None else (moment, moment + 1),
        chip=names.pop() if len(names) == 1 else None,
        members=frozenset(range(size)) if isinstance(size, int) and 0 < size < _MOST_RANKS else frozenset(),
        times={"trace": times},
    )


def _first_moment(around: dict[str, Any], times: Sequence[bytes]) -> int | None:
    """Return the time of the first events, ns since 1970; None where the trace has times since another moment."""
    moments = sorted(time_base(around) + int(Decimal(time.decode()) * 1000) for time in times if len(time) < _LONGEST_TIME)
    return moments[len(moments) // 2] if moments else None


def _marks_of_modules(options: Options) -> Marks:
    domains = "|".join(re.escape(domain) for domain in options.domains)
    ranges = f'"cat"\\s*:\\s*"user_annotation"\\s*,\\s*"name"\\s*:\\s*"(?:{domains})[^A-Za-z]'.encode()
    kinds: Marks = {"mstx": (b"user_annotation", ranges), "nn.Module": (b'"nn.Module: ', ANYTHING)}
    return {kind: mark for kind, mark in kinds.items() if kind in options.marks}


def _rank_of(file: Path, around: Mapping[str, Any]) -> tuple[int | None, str | None]:
    """Return the rank id and where it comes from."""
    job = around.get(JOB)
    if isinstance(job, dict) and (rank := number(job.get("rank"))) is not None:
        return rank, JOB
    found = RANK_IN_NAME.findall(file.name)
    return (int(found[-1]), "the name of the file") if found else (None, None)


def _why_no_memory(marks: set[str]) -> str | None:
    """Return why it is not known what was allocated on the device; None where it is."""
    if "totals of memory" in marks:
        return None
    if "memory of devices" in marks:
        return _NO_TOTALS
    return _ONLY_CPU if "memory" in marks else _NO_MEMORY


def _reasons(marks: set[str], options: Options, *, has_replayed_modules: bool, has_captures: bool) -> dict[str, str | None]:
    """Return the capabilities, each with the reason why the rank lacks it; None where it has it."""
    no_ops = None if "ops" in marks else _NO_OPS
    no_modules = no_ops or (None if marks & set(options.marks) else _NO_MODULES.format(", ".join(options.domains)))
    if no_modules and "graphs" in marks:
        no_modules += _OF_GRAPHS
    no_kernels = None if "kernels" in marks else _COUNTER_RANGES if "counter ranges" in marks else _NO_KERNELS
    return {
        "modules": None if has_replayed_modules else no_modules,
        "kernels": no_kernels,
        "ops": no_ops,
        "communication": no_kernels or (None if marks & {"communication", *_OWN_COLLECTIVES} else _NO_COMMUNICATION),
        "compute": no_kernels or (None if "compute" in marks else _NO_KERNELS),
        "shapes": no_ops or no_kernels or (None if "shapes" in marks or has_captures else _NO_SHAPES),
        "counters": no_kernels or (None if "occupancy" in marks else _NO_COUNTERS),
        "host_calls": None if "host calls" in marks else _NO_HOST_CALLS,
        "graph_calls": _NO_GRAPH_CALLS,
        "stacks": no_ops or (None if "stacks" in marks else _NO_STACKS),
        "marks": None if "marks" in marks else _NO_MARKS,
        "memory": _why_no_memory(marks),
        "kernel_types": None,
    }
