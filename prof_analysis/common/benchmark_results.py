"""Results of benchmarks of servers: vLLM's `bench serve --save-result`, and SGLang's bench_serving."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from prof_analysis.common import input_files
from prof_analysis.common.errors import InputError, reason_of

_GIVE = "give what `vllm bench serve --save-result --save-detailed` or SGLang's bench_serving --output-details wrote"
# Nobody waits longer for a token; a number above is no time.
_MOST_SECONDS = 10**7
_MOST_TOKENS = 10**12
# A latency -> what the names of its figures hold, by the one or the other benchmark.
_NAMES = {"ttft": ("ttft",), "itl": ("itl",), "tpot": ("tpot",), "e2el": ("e2el", "e2e_latency")}


def read_requests(given: object) -> tuple[str, ...]:
    """Return the records of a benchmark's result, from its file or from what it holds, or of the folder of msServiceProfiler.

    Each is a JSON object in a text. The first says how many runs the file holds, of which the last one counts, and how many
    requests failed. The others are requests that were answered, or figures of all requests, where the result has no single
    ones; of msServiceProfiler also batches. Times are in ns.
    Raises InputError, which names the file, for what is no such result.
    """
    if given is None:
        return ()
    if isinstance(given, tuple | list) and all(isinstance(one, str) for one in given):  # The records, as they are read.
        return tuple(given)
    if isinstance(given, Mapping):
        return _records("requests", given, 1)
    if not isinstance(given, str | Path):
        raise InputError(f"requests={type(given).__name__}: {_GIVE}")
    from prof_analysis.common import service_results

    file = Path(given)
    if (folder := service_results.folder_of(file)) is not None:
        return service_results.read_folder(folder)
    try:
        content = input_files.whole(file, input_files.FIGURES_BYTES).decode("utf-8-sig")
        runs = _runs(content)
        return _records(str(file), runs[-1], len(runs))
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({reason_of(error)})", path=file) from error
    except InputError as error:
        raise InputError(str(error), path=file) from None
    except (ValueError, RecursionError) as error:  # No JSON, or not in UTF-8.
        raise InputError(f"{file}: is no JSON ({reason_of(error)[:100]}); {_GIVE}", path=file) from error


def shortened(option: str, value: object) -> object:
    """Return the value of an option as exports name it: of the records of a result, which may be millions, a digest."""
    if option != "requests" or not isinstance(value, list) or not value:
        return value
    from hashlib import sha256

    return f"sha256 {sha256(json.dumps(value).encode()).hexdigest()}"


def _runs(content: str) -> list[Any]:
    """Return the objects of a file: one, or one in each line."""
    try:
        return [json.loads(content)]
    except json.JSONDecodeError as error:
        lines = [line for line in content.splitlines() if line.strip()]
        if len(lines) < 2 or error.msg != "Extra data":
            raise
        return [json.loads(line) for line in lines]


def _records(name: str, run: Any, run_count: int) -> tuple[str, ...]:
    """Return the records of a run; `name` is what errors call its file."""
    if not isinstance(run, Mapping):
        raise InputError(f"{name}: holds no result of a benchmark; {_GIVE}")
    ttfts = _list(name, run, "ttfts")
    if not ttfts:
        reported = list(_reported(name, run))
        if not reported:
            raise InputError(f"{name}: has no ttfts, itls, or figures such as median_ttft_ms; {_GIVE}")
        return (_head(run_count, _count(name, run.get("failed"), "failed")), *reported)
    found = list(_requests(name, run, ttfts))
    return (_head(run_count, len(ttfts) - len(found)), *found)


def _head(run_count: int, failed_count: int | None) -> str:
    return _text(kind="run", origin="benchmark", run_count=run_count, failed_count=failed_count)


def _requests(name: str, run: Mapping[str, Any], ttfts: Sequence[Any]) -> Iterator[str]:
    """Yield the requests that were answered: those without an error and with a first token."""
    itls, inputs, outputs, errors = (_list(name, run, key) for key in ("itls", "input_lens", "output_lens", "errors"))
    for key, values in (("itls", itls), ("input_lens", inputs), ("output_lens", outputs)):
        if values and len(values) != len(ttfts):
            raise InputError(f"{name}: has {len(ttfts):,} ttfts and {len(values):,} {key}; copy it again")
    for index, ttft in enumerate(ttfts):
        if (index < len(errors) and errors[index]) or ttft == 0:
            continue
        gaps = itls[index] if itls else []
        if not isinstance(gaps, list):
            raise InputError(f"{name}: itls[{index}] is no list; {_GIVE}")
        yield _text(
            kind="request",
            ttft_ns=_ns(name, ttft, f"ttfts[{index}]"),
            itl_ns=[_ns(name, gap, f"itls[{index}]") for gap in gaps] if itls else None,
            input_token_count=_count(name, inputs[index] if inputs else None, f"input_lens[{index}]"),
            output_token_count=_count(name, outputs[index] if outputs else None, f"output_lens[{index}]"),
        )


def _reported(name: str, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures of all requests, which are in ms."""
    for latency, names in _NAMES.items():
        figures: dict[str, int] = {}
        for figure in ("median", "p90", "p99"):
            for key in (f"{figure}_{one}_ms" for one in names):
                if run.get(key) is not None:
                    figures[f"{figure}_ns"] = _ns(name, run[key], key, ns=10**6)
        if figures:
            yield _text(kind="reported", latency=latency, **figures)


def _list(name: str, run: Mapping[str, Any], key: str) -> Sequence[Any]:
    values = run.get(key)
    if values is None:
        return []
    if not isinstance(values, list):
        raise InputError(f"{name}: {key} is no list; {_GIVE}")
    return values


def _ns(name: str, value: object, key: str, ns: int = 10**9) -> int:
    """Return a time in ns; `ns` is its unit."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not (0 <= value <= _MOST_SECONDS * 10**9 // ns):
        raise InputError(f"{name}: {key} is no time; {_GIVE}")
    return round(value * ns)


def _count(name: str, value: object, key: str) -> int | None:
    """Return a number of tokens or requests; None where it is not recorded."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not (0 <= value <= _MOST_TOKENS) or value != int(value):
        raise InputError(f"{name}: {key} is no number of tokens or requests; {_GIVE}")
    return int(value)


def _text(**record: object) -> str:
    return json.dumps(record, separators=(",", ":"))
