"""The findings on real profiles that benchmarks/advice.md shows are those that the rules give."""

import re
import shutil
from pathlib import Path

import pytest

from prof_analysis import open_profile

CHECKOUT = Path(__file__).parents[2]
CSV = "ASCEND_PROFILER_OUTPUT/kernel_details.csv"
# The beginning of a heading of the page, and its profile.
PROFILES = {
    "AlexNet, DDP, ranks 0 and 1 of 8 on 910A": "alexnet_ddp_910a",
    "AlexNet, DDP, ranks 0 and 1 of 8 on 910B": "alexnet_ddp_910b_mstx",
    "Qwen3-0.6B": "qwen3_0.6b_pp2dp2_910b",
    "Qwen3-32B, prefill": "qwen3_32b_vllm_a3/qwen3-32b_pf_4112tok.csv",
    "Qwen3-32B, decode": "qwen3_32b_vllm_a3/qwen3-32b_dc_16tok.csv",
    "DeepSeek-V3, prefill": "dsv3_vllm_a3/dsv3_pf_4099tok.csv",
    "DeepSeek-V3, decode": "dsv3_vllm_a3/dsv3_dc_1tok.csv",
    "Qwen1.5-0.5B on one H100": "gpu_kineto/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "Qwen1.5-0.5B on one MI300": "gpu_kineto/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "ResNet": "gpu_kineto/mi300/resnet_act_checkpoint.json.gz",
}
UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3}


def sections() -> dict[str, list[tuple[str, ...]]]:
    """Return the findings and wins of the page by heading."""
    text = (CHECKOUT / "benchmarks" / "advice.md").read_text(encoding="utf-8")
    parts = re.split(r"^## ", text, flags=re.MULTILINE)
    rows = {part.split("\n")[0]: re.findall(r"^\| `([^|`]+)` \| ([\d.]+ \w+|-) \|", part, flags=re.MULTILINE) for part in parts}
    return {heading: found for heading, found in rows.items() if found}


def shown(win_ns: int | None) -> str:
    """Return a win as the page has it."""
    unit = next((unit for unit, size in UNITS.items() if win_ns and win_ns >= size), None)
    return f"{win_ns / UNITS[unit]:.2f} {unit}" if win_ns and unit else "-"


@pytest.mark.slow
@pytest.mark.parametrize("heading", PROFILES)
def test_the_first_five_findings_of_a_real_profile_are_those_of_the_docs(realdata: Path, tmp_path: Path, heading: str) -> None:
    profile = realdata / PROFILES[heading]
    if profile.suffix == ".csv":
        copy = tmp_path / "a_ascend_pt" / CSV
        copy.parent.mkdir(parents=True)
        shutil.copy(profile, copy)
        profile = copy.parents[1]
    with open_profile(profile) as opened:
        found = [(row["title"], shown(row["win_ns_per_step"])) for row in opened.rows("FROM advice.finding LIMIT 5")]
    (documented,) = (rows for title, rows in sections().items() if title.startswith(heading))
    assert documented == found


def test_the_page_has_each_profile() -> None:
    assert [heading for heading in sections() if not heading.startswith(tuple(PROFILES))] == []
    assert len(sections()) == len(PROFILES)
