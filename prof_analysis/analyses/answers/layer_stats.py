"""The analysis `layer-stats`: which layers cost the time, seen in kernels alone?"""

from collections.abc import Mapping
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import Analysis, Rows
from prof_analysis.analyses.answer import Block, Facts, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import percent, several

ANALYSIS = Analysis(
    "layer-stats",
    "Which layers cost the time, seen in kernels alone?\n\n"
    "Finds the layers of a model in the sequence of its kernels, without modules or ops as in graph mode, and shows "
    "their time by position and by layer.",
    "compute kernels",
    {
        "layer.structure": "LayerStructure",
        "layer.statistic": "LayerPosition",
        "layer.by_index": "LayerByIndex",
        "layer.pass_layer": "Layer",
    },
    requires=("compute",),
    also=("across.layer_time",),
    rows={
        "position": Rows("layer.statistic"),
        "layer": Rows("layer.by_index", is_listed=True),
        "pass": Rows("layer.pass_layer", is_listed=True),
        "rank": Rows("layer.structure", is_listed=True),
    },
    place=19,
    examples={"More positions in a layer": "result --top 30"},
    returns="""Return the repeating layers of a model, found in the sequence of its kernels; nothing needs to mark modules.

    With by="position" a row is a kernel in the layers of one kind. by="layer" has a row for the first layer of all
    passes, the second, and so on; by="pass" one for each layer of each pass, such as a step or token. by="rank" says
    what was found and where all compute time is, or why no period is convincing; then the other choices have no rows.
    Raises InputError when no rank holds compute kernels.
    """,
    keys=lambda: schema.answer(
        structures=schema.rows("the layers of each rank", "layer.structure"),
        all=schema.one("all compute time", "across.layer_time"),
        heaviest_positions=schema.rows("positions in the layers", "layer.statistic"),
    ),
)


def layer_stats(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
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
    blocks += [
        said(_of_passes(one))
        for one in structures
        if one["draft_count"] or (one["whole_pass_count"] or 0) < (one["pass_count"] or 0)
    ]
    if positions:
        in_order = sorted(positions, key=lambda row: (row["profile"], row["kind"], row["position"]))
        blocks.append(table_of("layer.statistic", in_order, of_positions))
    return facts, blocks


def _of_passes(structure: Mapping[str, Any]) -> str:
    """Return how the layers of a rank are passes: whole ones, those that the profile cuts, and layers of a draft model."""
    passes, whole, drafts = (structure[name] or 0 for name in ("pass_count", "whole_pass_count", "draft_count"))
    parts = [f"{structure['profile']}: {structure['pass_layer_count']} layers a pass"]
    parts += [f"{several(drafts, 'layer')} behind them (MTP or a draft model)"] if drafts else []
    parts += [f"{whole} of {several(passes, 'pass', 'es')} whole, the others have fewer layers"] if whole < passes else []
    return "; ".join(parts)
