"""torch.profiler: what it is called with, and what is asked of it, go to `calls`."""

from pathlib import Path
from typing import Any

calls: list[tuple[Any, ...]] = []


def tensorboard_trace_handler(folder: str) -> str:
    return f"handler of {folder}"


def schedule(**arguments: int) -> tuple[str, dict[str, int]]:
    return "schedule", arguments


class profile:  # noqa: N801 - the name in torch
    def __init__(self, **arguments: Any) -> None:
        calls.append(("profile", arguments))
        self._handler = arguments.get("on_trace_ready")

    def start(self) -> None:
        calls.append(("start",))

    def step(self) -> None:
        calls.append(("step",))

    def stop(self) -> None:
        calls.append(("stop",))
        if self._handler is not None:
            folder = Path(self._handler.replace("handler of ", ""))
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "trace.json").write_text("[]", encoding="utf-8")

    def __enter__(self) -> "profile":
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()
