"""What the marks of prof_analysis.collect cost on the host: ns a call, and the share of a step of a small transformer.

    python -m benchmarks.marks

Needs torch. Each figure is the least of interleaved runs, on one thread.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import nn

from prof_analysis import collect

RUNS = 7


def least_ns(work: Callable[[], Any], calls: int, marks: bool, recording: bool) -> float:
    """The least time of a call, with or without marks and a profiler."""
    with ExitStack() as stack:
        if recording:
            stack.enter_context(torch.profiler.profile())
        if marks:
            stack.enter_context(collect.modules())
        work()
        begin = time.perf_counter_ns()
        for _ in range(calls):
            work()
        return (time.perf_counter_ns() - begin) / calls


def main() -> None:
    torch.set_num_threads(1)
    empty, value = nn.Identity(), torch.randn(64, 8, 256)
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 4, 1024), 4)
    marks = sum(1 for _ in model.modules())
    with torch.inference_mode():
        for recording in (False, True):
            state = "recorded" if recording else "not recorded"
            for name, work, calls in (("a call", lambda: empty(value), 5000), ("a step", lambda: model(value), 10)):
                times: dict[bool, float] = {True: float("inf"), False: float("inf")}
                for _ in range(RUNS):
                    for has_marks in (True, False):
                        times[has_marks] = min(times[has_marks], least_ns(work, calls, has_marks, recording))
                more = times[True] - times[False]
                print(f"{state}, {name}: {more:,.0f} ns more than {times[False]:,.0f} ns ({more / times[False]:.1%})")
    print(f"a step calls about {marks} modules")


if __name__ == "__main__":
    main()
