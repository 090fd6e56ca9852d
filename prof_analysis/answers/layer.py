"""The answer of `layer-stats`: the structure of each rank, and the heaviest positions of its layers."""

from typing import TYPE_CHECKING

from prof_analysis.answers.answer import Block, Facts, said, size_of, table_of
from prof_analysis.answers.words import percent, several

if TYPE_CHECKING:
    from prof_analysis.profile import Profile


def layer_stats(profile: "Profile", top: int) -> tuple[Facts, list[Block]]:
    """Return the layers found in each rank, where all compute time is, and the heaviest positions over all ranks."""
    structures = profile.rows(f"FROM layer.structure ORDER BY profile LIMIT {top:d}")
    (whole,) = profile.rows("FROM across.layer_time")
    positions = profile.rows(f"FROM layer.statistic ORDER BY total_ns DESC, profile, kind, position LIMIT {top:d}")
    facts: Facts = {
        **size_of(profile, "layer.structure"),
        "structures": structures,
        "all": whole,
        "heaviest_positions": positions,
    }
    of_structures = {
        "profile": "profile",
        "layers": "layer_count",
        "alike": "alike_count",
        "passes": "pass_count",
        "kernels": "kernel_count",
        "kernels x layers": "kernels_of_layers",
        "streams": "streams",
        "streams beside": "beside_streams",
        "why no layers": "reason",
    }
    of_positions = {
        "type": "type",
        "position": "position",
        "mean": "mean_ns",
        "share of layer": "share",
        "gap before": "mean_gap_ns",
        "median": "median_ns",
        "p95": "p95_ns",
        "kind": "kind",
        "name": "name",
    }
    total_ns = sum(time_ns or 0 for time_ns in whole.values())
    parts = [
        f"{name.removesuffix('_ns').replace('_', ' ')} {percent(time_ns / total_ns)}"
        for name, time_ns in whole.items()
        if time_ns
    ]
    blocks: list[Block] = [
        table_of("layer.structure", structures, of_structures),
        said(f"compute time: {', '.join(parts)}; {several(facts['ranks'], 'rank')}"),
    ]
    if positions:
        in_order = sorted(positions, key=lambda row: (row["profile"], row["kind"], row["position"]))
        blocks.append(table_of("layer.statistic", in_order, of_positions))
    return facts, blocks
