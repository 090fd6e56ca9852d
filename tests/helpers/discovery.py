"""Helpers that several tests of discovery share."""

import json
from pathlib import Path
from typing import Any

from prof_analysis.sources.rank import Rank
from tests.helpers.small_profile import Kernel, Op, Range

OPS = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040),)),)


RANGES = (Range("Net", 100, 200),)


def identities(ranks: list[Rank]) -> list[tuple[str, int | None]]:
    return [(rank.profile, rank.rank_id) for rank in ranks]


def write_info(
    folder: Path,
    rank_id: object = None,
    common: dict[str, Any] | None = None,
    experimental: dict[str, Any] | None = None,
    name: str = "profiler_info.json",
) -> None:
    """A profiler_info file as torch_npu writes it, with other switches than those it has by default."""
    activities = ["ProfilerActivity.CPU", "ProfilerActivity.NPU"]
    config = {
        "common_config": {"activities": activities, "record_shapes": True} | (common or {}),
        "experimental_config": {"_profiler_level": "Level1", "_mstx": True} | (experimental or {}),
    }
    content = {"config": config} | ({} if rank_id is None else {"rank_id": rank_id})
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
