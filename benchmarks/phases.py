"""Where the time of the main job goes: runs it in this process with a watch around each phase.

    python -m benchmarks.phases STARTED RESULT WORD...

STARTED is the time.time() at which the process was started; RESULT gets a JSON object: phase -> seconds. The words are those of
the command.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECONDS: dict[str, float] = defaultdict(float)


@contextmanager
def watch(phase: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    SECONDS[phase] += time.perf_counter() - start


def watched(function: Callable[..., Any], phase: Callable[..., str]) -> Callable[..., Any]:
    """The function with a watch around it; `phase` names the phase from its arguments."""

    def outer(*args: Any, **options: Any) -> Any:
        with watch(phase(*args)):
            return function(*args, **options)

    return outer


def watch_function(module: Any, name: str, phase: Callable[..., str]) -> None:
    setattr(module, name, watched(getattr(module, name), phase))


def main() -> None:
    started, result, *words = sys.argv[1:]
    from prof_analysis import exports
    from prof_analysis.analyses import answering
    from prof_analysis.cli import app
    from prof_analysis.engine import building
    from prof_analysis.profile import asked
    from prof_analysis.run import rank_tables, work
    from prof_analysis.sources import SOURCES

    watch_function(asked, "Session", lambda *_: "find ranks")
    for module in (work, rank_tables):
        watch_function(module, "plan_of_job", lambda *_: "plan")
    for source in SOURCES.values():
        watch_function(source, "stage", lambda *_: "stage")
    watch_function(building, "_create", lambda _, table, *__: table.name)
    watch_function(rank_tables, "write_rows", lambda *_: "store")
    watch_function(rank_tables, "_keep", lambda *_: "keep")
    watch_function(exports, "export", lambda *_: "export")
    watch_function(answering, "answer_of", lambda *_: "summary")
    SECONDS["start"] = time.time() - float(started)
    try:
        app(words)
    except SystemExit as end:
        if end.code:
            raise
    SECONDS["rest"] = time.time() - float(started) - sum(SECONDS.values())
    Path(result).write_text(json.dumps(SECONDS), encoding="utf-8")


if __name__ == "__main__":
    main()
