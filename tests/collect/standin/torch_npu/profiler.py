"""torch_npu.profiler."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .npu import calls

ProfilerLevel = SimpleNamespace(Level0="Level0", Level1="Level1", Level2="Level2", Level_none="Level_none")
AiCMetrics = SimpleNamespace(PipeUtilization="PipeUtilization", AiCoreNone="AiCoreNone")
ExportType = SimpleNamespace(Text="text", Db="db")
ProfilerActivity = SimpleNamespace(CPU="CPU", NPU="NPU")


class _ExperimentalConfig:
    def __init__(
        self,
        profiler_level: str = "Level0",
        aic_metrics: str = "AiCoreNone",
        l2_cache: bool = False,
        msprof_tx: bool = False,
        data_simplification: bool = True,
        record_op_args: bool = False,
        op_attr: bool = False,
        gc_detect_threshold: float | None = None,
        export_type: Any = None,
        mstx: bool = False,
        mstx_domain_include: list[str] | None = None,
        mstx_domain_exclude: list[str] | None = None,
    ) -> None:
        self.given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}


def tensorboard_trace_handler(folder: str) -> str:
    return f"handler of {folder}"


def schedule(**arguments: int) -> tuple[str, dict[str, int]]:
    return "schedule", arguments


class profile:  # noqa: N801 - the name in torch_npu
    def __init__(self, **arguments: Any) -> None:
        config = arguments.pop("experimental_config")
        self._handler = arguments.get("on_trace_ready")
        calls.append(("profile", arguments, config.given))

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
