"""Kernel types of the layers of made-up models, and the layers that were found."""

from prof_analysis import Profile
from tests.helpers.frames import arrow_of

HEAD = ["MatMul", "Rope", "Cache"]
ATTENTION = ["Attention", "MatMul", "AddNorm"]
DENSE = [*HEAD, *ATTENTION, "MatMul", "SwiGlu", "MatMul", "AddNorm"]
EXPERTS = [*HEAD, *ATTENTION, "Gating", "Dispatch", "GroupedMatMul", "SwiGlu", "GroupedMatMul", "Combine", "AddNorm"]
BEGIN, END = ["Cast", "Gather", "RmsNorm"], ["Index", "MatMul", "Cast", "ArgMax"]
NS = 10


def passes(profile: Profile, name: str) -> list[str]:
    """Return the kinds of the layers of each pass; x is irregular."""
    rows = arrow_of(profile.layer_stats("pass")).to_pylist()
    of_rank = [row for row in rows if row["profile"] == f"{name}_ascend_pt"]
    count = max(row["pass"] for row in of_rank) + 1
    return ["".join(str(row["kind"] or "x") for row in of_rank if row["pass"] == number) for number in range(count)]
