"""The numbers of each picture are those of the tables that it shows."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from prof_analysis import ProfAnalysisWarning, open_profile, open_profiles
from prof_analysis.pictures.figures.modules import Kernels
from prof_analysis.pictures.figures.tree import path_of, sector_id
from prof_analysis.profile.profile import Profile
from tests.helpers.places import SAMPLE

# Each pair of ranks once, of whatever types, groups and links.
PAIRS = """
    SELECT source_global_rank, destination_global_rank, sum(size_bytes)::BIGINT AS size_bytes
    FROM across.link
    WHERE NOT is_within_device
    GROUP BY ALL
"""


@pytest.fixture(scope="module")
def sample(kept: Path, kept_sample: Path) -> Iterator[Profile]:
    with open_profile(kept_sample, cache=kept) as profile:
        yield profile


def bars_of(figure: go.Figure) -> dict[str, list[Any]]:
    """The first of the further data of each bar: the number that it carries, by the name of the trace."""
    return {trace.name: [cell[0] for cell in trace.customdata] for trace in figure.data if trace.type == "bar"}


@pytest.mark.parametrize(
    ("kernels", "own_and_whole", "counted"),
    [
        (
            "compute",
            "FROM (SELECT parent_module, module, own_computing_ns AS own, computing_ns AS whole FROM module.time)",
            "compute",
        ),
        ("all", "FROM (SELECT *, own_kernel_duration_ns AS own, kernel_duration_ns AS whole FROM module.tree)", "%"),
    ],
)
def test_each_sector_has_the_time_of_its_module_and_holds_those_inside_it(
    sample: Profile, kernels: Kernels, own_and_whole: str, counted: str
) -> None:
    (icicle,) = sample.plot.modules(kernels=kernels).data
    tree = sample.rows(
        f"SELECT parent_module, module, sum(own)::BIGINT AS own, sum(whole)::BIGINT AS whole {own_and_whole} GROUP BY ALL"
    )
    shown = {id_: (cell[1], value) for id_, cell, value in zip(icicle.ids, icicle.customdata, icicle.values, strict=True)}
    expected = {
        sector_id(None, path_of(row), row["module"].startswith("[Backward]")): (row["own"], row["whole"]) for row in tree
    }
    (all_kernels,) = sample.rows(
        f"SELECT sum(kernel_duration_ns)::BIGINT AS ns FROM across.coverage WHERE kind LIKE '{counted}'"
    )
    outside = sample.rows(
        f"""
        SELECT location, sum(kernel_duration_ns)::BIGINT AS ns
        FROM across.coverage
        WHERE kind LIKE '{counted}'
        GROUP BY ALL
        ORDER BY ALL
        """
    )
    expected["all"] = (0, all_kernels["ns"])
    expected |= {f"all-{row['location'].replace(' ', '-')}": (row["ns"], row["ns"]) for row in outside[1:]}
    assert shown == expected and len(shown) == len(icicle.ids)
    inside: dict[str, int] = {}
    for parent, value in zip(icicle.parents, icicle.values, strict=True):
        inside[parent] = inside.get(parent, 0) + value
    assert all(own + inside.get(id_, 0) == value for id_, (own, value) in shown.items())


def test_the_parts_of_each_bar_are_those_of_its_step_and_add_up_to_it(sample: Profile) -> None:
    parts = bars_of(sample.plot.steps())
    rows = sample.rows("FROM step.time")
    assert parts == {
        "computing alone": [row["computing_ns"] - row["overlapped_ns"] for row in rows],
        "computing and communication": [row["overlapped_ns"] for row in rows],
        "communication alone (exposed)": [row["communication_not_overlapped_ns"] for row in rows],
        "idle": [row["free_ns"] for row in rows],
    }
    sums = [sum(filter(None, bar)) for bar in zip(*parts.values(), strict=True)]
    wholes = [row["computing_ns"] if row["stage_ns"] is None else row["stage_ns"] + row["bubble_ns"] for row in rows]
    assert sums == wholes


def test_a_cell_compares_the_time_of_a_rank_with_the_median(sample: Profile) -> None:
    (heat,) = sample.plot.ranks().data
    rows = sample.rows(
        """
        SELECT list(own_computing_ns ORDER BY rank_id) AS times
        FROM module.time
        GROUP BY parent_module, module
        HAVING sum(own_computing_ns) > 0
        ORDER BY sum(own_computing_ns) DESC
        """
    )
    shown = [[cell[0] for cell in line] for line in heat.customdata]
    assert sorted(shown) == sorted(row["times"] for row in rows)
    for times, changes in zip(shown, heat.z, strict=True):
        middle = sum(times) / 2  # Of two ranks.
        assert list(changes) == pytest.approx([time / middle - 1 for time in times])


def test_communication_is_split_as_in_the_table_and_links_carry_their_bytes(sample: Profile) -> None:
    figure = sample.plot.communication()
    (row,) = sample.rows("FROM across.communication_group_time")
    assert bars_of(figure) == {"transfer": [row["transit_ns"]], "wait": [row["wait_ns"]], "idle": [row["idle_ns"]]}
    assert row["transit_ns"] + row["wait_ns"] + row["idle_ns"] == row["elapse_ns"]
    (heat,) = (trace for trace in figure.data if trace.type == "heatmap")
    links = {(row["source_global_rank"], row["destination_global_rank"]): row["size_bytes"] for row in sample.rows(PAIRS)}
    assert [list(line) for line in heat.z] == [[None, links[0, 1]], [links[1, 0], None]]


def test_memory_shows_recorded_moments_and_the_whole_peak(sample: Profile) -> None:
    figure = sample.plot.memory()
    (fullest,) = sample.rows("FROM across.memory_rank LIMIT 1")
    mine = f"profile = '{fullest['profile']}' AND role = 'framework'"
    assert sum(bars_of(figure)["allocated at the peak"]) == fullest["peak_allocated_bytes"]
    for measure in ("allocated", "active", "reserved"):
        (line,) = (trace for trace in figure.data if trace.name == measure)
        records = {(row[f"{measure}_bytes"], str(row["time_ns"])) for row in sample.rows(f"FROM allocation.usage WHERE {mine}")}
        assert {(cell[0], cell[1]) for cell in line.customdata} <= records
    (line,) = (trace for trace in figure.data if trace.name == "allocated")
    assert max(cell[0] for cell in line.customdata) == fullest["peak_allocated_bytes"]


@pytest.mark.parametrize("step", [None, 11])
def test_a_timeline_has_all_kernels_module_calls_and_gaps_of_its_step(sample: Profile, step: int | None) -> None:
    figure = sample.plot.timeline(step, rank=1)
    shorter, longer = sample.rows("SELECT step_id FROM timeline.step WHERE rank_id = 1 ORDER BY end_ns - start_ns")
    assert (shorter["step_id"], longer["step_id"]) == (10, 11)
    shown = step or 10  # Of two steps the shorter one is the middle.
    of_step = f"rank_id = 1 AND step_id = {shown}"
    parts = bars_of(figure)
    counts = {trace.name: sum(cell[1] for cell in trace.customdata) for trace in figure.data}
    kernels = sample.rows(
        f"SELECT kind::VARCHAR AS kind, sum(duration_ns) AS ns, count(*) AS n FROM timeline.kernel WHERE {of_step} GROUP BY ALL"
    )
    gaps = sample.rows(f"SELECT cause, sum(duration_ns) AS ns, count(*) AS n FROM timeline.gap WHERE {of_step} GROUP BY ALL")
    (calls,) = sample.rows(
        f"""
        SELECT sum(end_ns - start_ns) AS ns, count(*) AS n
        FROM timeline.module_call
        WHERE {of_step} AND stream_id = 2
        """
    )
    expected = {
        **{row["kind"]: (row["ns"], row["n"]) for row in kernels},
        **{f"idle: {row['cause']}": (row["ns"], row["n"]) for row in gaps},
        "modules": (calls["ns"], calls["n"]),
    }
    drawn: dict[str, tuple[int, int]] = {}
    for name, part in parts.items():
        what = name.split(" at depth ")[0]
        before = drawn.get(what, (0, 0))
        drawn[what] = (before[0] + sum(part), before[1] + counts[name])
    assert drawn == expected
    (free,) = sample.rows(f"SELECT free_ns FROM step.time WHERE {of_step}")
    assert sum(row["ns"] for row in gaps) == free["free_ns"]


@pytest.mark.slow
def test_runs_are_drawn_beside_each_other_and_one_of_them_alone(kept: Path) -> None:
    rank = next((SAMPLE / "decoder_training").glob("*4242*"))
    warnings.simplefilter("ignore", ProfAnalysisWarning)  # Both runs are the same.
    with open_profiles({"old": rank, "<new>": rank}, cache=kept) as profile:
        with profile.only("old"):
            alone = profile.plot.modules().data[0].values[0]
            bars = len(profile.plot.steps().data[0].x)
            assert len(profile.plot.communication().data[0].x) == 1
        (icicle,) = profile.plot.modules().data
        of_runs = [(icicle.labels[place], icicle.values[place]) for place, at in enumerate(icicle.parents) if at == "all"]
        assert of_runs == [("&lt;new&gt;", alone), ("old", alone)]
        assert alone > 0 and len(profile.plot.steps().data[0].x) == 2 * bars
