"""torch.profiler: what it is called with, and what is asked of it, go to `calls`."""

from typing import Any

calls: list[tuple[Any, ...]] = []


def tensorboard_trace_handler(folder: str) -> str:
    return f"handler of {folder}"


def schedule(**arguments: int) -> tuple[str, dict[str, int]]:
    return "schedule", arguments


class profile:  # noqa: N801 - the name in torch
    def __init__(self, **arguments: Any) -> None:
        calls.append(("profile", arguments))

    def start(self) -> None:
        calls.append(("start",))

    def step(self) -> None:
        calls.append(("step",))

    def stop(self) -> None:
        calls.append(("stop",))

    def __enter__(self) -> "profile":
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()
