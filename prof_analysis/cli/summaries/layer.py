"""What `layer-stats` prints: the structure of each rank, and the heaviest positions of its layers."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prof_analysis.cli.summaries.parts import cells, duration, grid_of, percent, print_statistic, rank_count, size_of

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

_PARTS = ("alike", "irregular", "prologue", "between", "epilogue", "unstructured", "other_streams")
_TEXTS = ("kernels_of_layers", "streams", "beside_streams", "profile", "reason")


def layer_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """What was found in each rank, where all compute time is, and the heaviest positions over all ranks."""
    sums = ", ".join(f"sum({part}_ns)::BIGINT AS {part}_ns" for part in _PARTS)
    return {
        **size_of(profile, "layer.structure"),
        "structures": profile.rows(f"FROM layer.structure ORDER BY profile LIMIT {top:d}"),
        "all": profile.rows(f"SELECT {sums} FROM layer.structure")[0],
        "heaviest_positions": profile.rows(
            f"FROM layer.statistic ORDER BY total_ns DESC, profile, kind, position LIMIT {top:d}"
        ),
    }


def print_layer_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the structure of each rank, the heaviest positions, the parts of compute time, and the files."""
    headings = ("layers", "alike", "passes", "kernels", "kernels x layers", "streams", "beside", "profile", "no layers because")
    structures = grid_of(*headings, left=5)
    for row in facts["structures"]:
        counts = ("-" if row[count] is None else f"{row[count]:,}" for count in ("layer_count", "alike_count", "pass_count"))
        structures.add_row(*counts, f"{row['kernel_count']:,}", *cells(*(row[text] for text in _TEXTS)))
    positions = grid_of("share of layer", "mean", "median", "p95", "gap before", "kind", "position", "type", "name", left=2)
    for row in facts["heaviest_positions"]:
        gap = row["mean_gap_ns"]
        positions.add_row(
            percent(row["share"]),
            *(duration(round(row[f"{time}_ns"])) for time in ("mean", "median", "p95")),
            "-" if gap is None else duration(round(gap)),
            f"{row['kind']:,}",
            f"{row['position']:,}",
            *cells(row["type"], row["name"]),
        )
    whole = facts["all"]
    total = sum(time_ns or 0 for time_ns in whole.values())
    parts = [
        f"{part.replace('_', ' ')} {percent(whole[f'{part}_ns'] / total)}" for part in _PARTS if whole[f"{part}_ns"] and total
    ]
    print_statistic(structures, [f"compute time: {', '.join(parts)}; {rank_count(facts)}"], () if positions.rows else written)
    if positions.rows:
        print_statistic(positions, [""], written)
