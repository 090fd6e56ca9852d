"""The judgements on the findings of real profiles: `python -m tests.advice.judging` prints findings that have none.

`judged.csv` has a row for each finding: the profile, the rule and where it is (module, op and type of kernels), the judgement,
and the figure of the raw files that supports it, with how it was got. The judgements are those of an expert who would do it:

right    the cause is as named, and the step gets shorter by up to the win
useful   worth knowing, and what to do can shorten the step, though not by all of the win, or the cause is one of several
noise    true, but nobody would act on it
wrong    the cause is another one, or what to do cannot shorten the step
"""

import csv
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from prof_analysis import ProfAnalysisWarning, open_profile

JUDGED = Path(__file__).with_name("judged.csv")
COLUMNS = ("profile", "rule", "where", "judgement", "figure", "how")
GOOD, BAD = ("right", "useful"), ("noise", "wrong")
# Three that take a second each.
QUICK = ("qwen3_32b_vllm_a3/qwen3-32b_dc_16tok.csv", "glm5_1_vllm_a3", "trace_alone_2023")
PROFILES = (
    *QUICK,
    "qwen3_32b_vllm_a3/qwen3-32b_pf_4112tok.csv",
    "dsv3_vllm_a3/dsv3_dc_1tok.csv",
    "dsv3_vllm_a3/dsv3_pf_4099tok.csv",
    "alexnet_ddp_910a",
    "alexnet_ddp_910b/db/level0",
    "alexnet_ddp_910b/db/level1",
    "alexnet_ddp_910b/text/level0",
    "alexnet_ddp_910b/text/level1",
    "alexnet_ddp_910b_mstx",
    "qwen3_0.6b_pp2dp2_910b",
    "gpu_kineto/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "gpu_kineto/h100/gaunernst_bert-small-uncased__1016001.json.gz",
    "gpu_kineto/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "gpu_kineto/mi300/gaunernst_bert-small-uncased__1016001.json.gz",
    "gpu_kineto/mi300/normalization_layer_test.json.gz",
    "gpu_kineto/mi300/resnet_act_checkpoint.json.gz",
    "gpu_kineto/mi300_vllm",
    "serving/sglang_prefilldecode",
    "serving/sglang_decode",
    "serving/vllm_prefilldecode_piecewise",
    "gpu_more/torch_compile_old_nccl",
    "gpu_more/rocm_external_id",
    "gpu_more/resnet50_2021",
)
Key = tuple[str, str, str]


def judgements() -> Mapping[Key, Mapping[str, str]]:
    """Return the judgements by profile, rule and place."""
    with JUDGED.open(encoding="utf-8", newline="") as file:
        return {(row["profile"], row["rule"], row["where"]): row for row in csv.DictReader(file)}


def key_of(profile: str, row: Mapping[str, Any]) -> Key:
    """Return what identifies a finding of a profile, whatever its words."""
    return profile, row["rule"], ", ".join(row[part] or "-" for part in ("module", "op", "kernel_type"))


def findings(folder: Path) -> Sequence[Mapping[str, Any]]:
    """Return what advise finds in a profile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        with open_profile(folder) as opened:
            return opened.rows("FROM advice.finding")


def faults(profile: str, found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what is wrong with the findings of a profile: one that is not judged, or one of the first five that is not good."""
    judged = judgements()
    for number, row in enumerate(found, 1):
        key = key_of(profile, row)
        if key not in judged:
            yield f"not judged: {number}. {key[1:]}: {row['title']}: {row['evidence']}"
        elif number <= 5 and judged[key]["judgement"] not in GOOD:
            yield f"{judged[key]['judgement']}, but among the first five: {number}. {key[1:]}: {row['title']}"


def print_unjudged(realdata: Path, profiles: Sequence[str], everything: bool) -> None:
    """Print the findings without a judgement, or all, as rows of judged.csv with their evidence, to be judged."""
    written = csv.writer(sys.stdout, lineterminator="\n")
    written.writerow((*COLUMNS, "place", "win", "title", "evidence"))
    judged = judgements()
    for profile in profiles:
        for number, row in enumerate(findings(realdata / profile), 1):
            key = key_of(profile, row)
            known = judged.get(key, {})
            if everything or not known:
                said = (known.get(column, "") for column in COLUMNS[3:])
                written.writerow((*key, *said, number, row["win_ns_per_step"], row["title"], row["evidence"]))
        sys.stdout.flush()


if __name__ == "__main__":
    asked = [word for word in sys.argv[1:] if word != "--all"]
    print_unjudged(Path(__file__).parents[3] / "shared" / "realdata", asked or PROFILES, "--all" in sys.argv)
