"""Reads profiler_info.json: the switches that a profile was collected with, and so the reasons why data is missing."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from prof_analysis.common.answer_options import Options
from prof_analysis.common.capabilities import CAPABILITIES
from prof_analysis.sources.ascend_beside.folders import PROFILER_INFO, files_in
from prof_analysis.sources.rank import json_object, number
from prof_analysis.sources.readers.bounds import Recording, known_recording

LEVELS_WITHOUT_TYPES = ("Level0", "Level_none")

NO_GRAPH_CALLS = f"no {CAPABILITIES['graph_calls']}"
NO_HOST_CALLS = "no host calls into CANN (collected without NPU activity)"
NO_STACKS = f"no {CAPABILITIES['stacks']}; collect with with_stack=True"
NO_CLOCK = f"no {CAPABILITIES['clock']} (AI Core Freq): the collector wrote none, as on 910A"
NO_STATIC_MEMORY = f"no {CAPABILITIES['static_memory']} (static_op_mem.csv)"
NO_KERNELS = "no kernels (collected without NPU activity, or nothing ran on the device)"


def config_of(folder: Path) -> dict[str, Any]:
    """Read profiler_info*.json of a folder into a flat dict; a value that the file lacks is None."""
    file, match = next(((f, m) for f in files_in(folder) if (m := PROFILER_INFO.fullmatch(f.name))), (None, None))
    if file is None or match is None:
        return {}
    info = json_object(file)
    config = _object(info, "config")
    common, experimental = _object(config, "common_config"), _object(config, "experimental_config")
    rank_id = number(match[1] or info.get("rank_id"))
    return {
        "rank_id": rank_id,
        "rank_id_from": None if rank_id is None else file.name,
        "level": level if isinstance(level := experimental.get("_profiler_level"), str) else None,
        "activities": _list(common, "activities"),
        "record_shapes": common.get("record_shapes"),
        "profile_memory": common.get("profile_memory"),
        "aic_metrics": experimental.get("_aic_metrics"),
        "mstx": _either(experimental.get("_mstx"), experimental.get("_msprof_tx")),
        "domain_include": _list(experimental, "_mstx_domain_include"),
        "domain_exclude": _list(experimental, "_mstx_domain_exclude"),
    }


def recording_of(folder: Path) -> Recording | None:
    """Return the time that was recorded, by profiler_info*.json of a folder; None where it does not say it."""
    for file in files_in(folder):
        if PROFILER_INFO.fullmatch(file.name):
            info = json_object(file)
            first, last = _object(info, "start_info"), _object(info, "end_info")
            end, times = last.get("collectionTimeEnd"), (first.get("start_monotonic"), last.get("MonotonicTimeEnd"))
            if isinstance(end, int) and isinstance(times[0], int) and isinstance(times[1], int):
                return known_recording(end - (times[1] - times[0]), end)
    return None


def not_collected(config: Mapping[str, Any]) -> Iterable[str]:
    """Name the data that was not collected."""
    activities = config.get("activities")
    for activity in ("ProfilerActivity.CPU", "ProfilerActivity.NPU"):
        if activities and activity not in activities:
            yield f"{activity} was off"
    if config.get("level") in LEVELS_WITHOUT_TYPES:
        yield why_no_shapes(config)
    if config.get("record_shapes") is False:
        yield "no op shapes: record_shapes was off"


def why_untyped(config: Mapping[str, Any], no_shapes: str | None) -> str | None:
    """Say why some kernels may have no type, which at a low level is so even where others have one; None where all have."""
    return why_no_shapes(config) if config.get("level") in LEVELS_WITHOUT_TYPES else no_shapes


def why_no_shapes(config: Mapping[str, Any]) -> str:
    """Say why kernels have no types and shapes."""
    level = config.get("level")
    if level in LEVELS_WITHOUT_TYPES:
        return f"no kernel types and shapes: profiler_level was {level}; collect with Level1, which has them"
    if level:
        return f"no kernel types and shapes, though profiler_level was {level}: parse the profile again, or copy it whole"
    return "no kernel types and shapes; Level1 and higher have them"


def why_no_kernels(config: Mapping[str, Any]) -> str:
    """Say why there are no kernels, and what to do."""
    if config.get("level") == "Level_none":
        return "no kernels: profiler_level was Level_none, which records mstx marks alone; collect with Level1"
    return NO_KERNELS


def why_no_host_calls(config: Mapping[str, Any]) -> str:
    """Say why there are no host calls into CANN, and what to do; databases have those of Level0 too."""
    level = config.get("level")
    if level in LEVELS_WITHOUT_TYPES:
        return f"no host calls into CANN: profiler_level was {level}; collect with Level1"
    return NO_HOST_CALLS


def why_no_counters(config: Mapping[str, Any]) -> str:
    """Say why kernels have no hardware counters, and what to do."""
    was = " (here it was off)" if config.get("aic_metrics") == "ACL_AICORE_NONE" else ""
    return f"no hardware counters (PMU); collect with aic_metrics, such as AiCMetrics.PipeUtilization{was}"


def why_no_marks(config: Mapping[str, Any]) -> str:
    """Say why there are no mstx marks and ranges, and what to do."""
    was = " (here it was off)" if config.get("mstx") is False else ""
    return f"no mstx marks and ranges; collect with mstx=True{was}"


def why_no_transfers(config: Mapping[str, Any]) -> str:
    """Say why there are no transfers between ranks, and what to do."""
    was = f" (here it was {level})" if (level := config.get("level")) in LEVELS_WITHOUT_TYPES else ""
    return f"no {CAPABILITIES['transfers']}; collect with profiler_level Level1 or higher{was}"


def why_no_memory(config: Mapping[str, Any]) -> str:
    """Say why there are no records of memory, and what to do."""
    was = " (here it was off)" if config.get("profile_memory") is False else ""
    return f"no {CAPABILITIES['memory']}; collect with profile_memory=True{was}"


def why_no_modules(config: Mapping[str, Any], options: Options) -> str:
    """Say why a rank that has ops has no marks of modules, and what to do."""
    domain = " or ".join(options.domains)
    reason = f"no module ranges; mark the modules with mstx ranges in the domain {domain} and collect with mstx=True"
    if "nn.Module" in options.marks:
        reason += ", or collect with with_modules=True"
    include, exclude = config.get("domain_include"), config.get("domain_exclude", [])
    if set(options.domains) & set(exclude) or (include and not set(options.domains) & set(include)):
        return f"{reason} (here the mstx domain filter left out the domain {domain})"
    return f"{reason} (here mstx was off)" if config.get("mstx") is False else reason


def _object(parent: dict[str, Any], key: str) -> dict[str, Any]:
    child = parent.get(key)
    return child if isinstance(child, dict) else {}


def _list(parent: dict[str, Any], key: str) -> list[Any]:
    child = parent.get(key)
    return child if isinstance(child, list) else []


def _either(*switches: object) -> bool | None:
    """Return whether one of the switches was on; None where none was recorded."""
    written = [switch for switch in switches if switch is not None]
    return any(written) if written else None
