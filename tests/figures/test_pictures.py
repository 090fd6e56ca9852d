"""Pictures of what is large, hostile, missing or compared."""

import json
import re
import shutil
import sys
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from plotly.io import renderers

from prof_analysis import InputError, compare, open_profile
from prof_analysis.pictures.figures import still
from prof_analysis.pictures.figures.communication import communication
from prof_analysis.pictures.figures.memory import memory
from prof_analysis.pictures.figures.modules import Kernels, modules, root_of
from prof_analysis.pictures.figures.ranks import ranks
from prof_analysis.pictures.figures.steps import steps
from prof_analysis.pictures.figures.style import DIVERGING, SEQUENTIAL, UNKNOWN, colour_at, ink_on, label, luminance, theme
from prof_analysis.pictures.figures.timeline import timeline
from tests.helpers.hostile import LONG, write_hostile
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, write_profile
from tests.helpers.small_runs import module, write_run

# What pictures themselves write in plotly's own markup.
OURS = re.compile(r'</?b>|<br>|<extra></extra>|</?span[^<>]*>|<span style="color:#[0-9a-f]{6}">')


def texts_of(value: Any) -> Iterator[str]:
    """All texts in a figure as JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner)


def module_row(parent: str, name: str, own_ns: int) -> dict[str, Any]:
    return {
        "parent_module": parent,
        "module": name,
        "calls": 1,
        "own_kernel_duration_ns": own_ns,
        "own_computing_ns": own_ns,
        "computing_ns": own_ns,
        "communication_ns": 0,
        "computing_per_step_ns": None,
        "efficiency": None,
        "mfu": None,
        "bound": None,
    }


def step_row(profile: str, step: int, computing: int, free: int) -> dict[str, Any]:
    return {
        "profile": profile,
        "rank_id": int(profile),
        "step_id": step,
        "computing_ns": computing,
        "overlapped_ns": 0,
        "communication_not_overlapped_ns": 0,
        "copying_not_overlapped_ns": 0,
        "free_ns": free,
        "stage_ns": computing + free,
        "bubble_ns": 0,
    }


def test_thousands_of_modules_are_folded_and_keep_their_sums() -> None:
    rows = [module_row("", "Net", 10)]
    for layer in range(100):
        rows.append(module_row("Net", f"Layer[{layer}]", 1000 + layer))
        rows += [module_row(f"Net/Layer[{layer}]", f"Part[{part}]", part) for part in range(60)]
    (icicle,) = modules(root_of(rows, [{"location": "linked to no op", "kernel_duration_ns": 9, "computing_ns": 7}]), 1).data
    assert len(icicle.ids) == len(set(icicle.ids)) < 1000
    whole = sum(row["own_kernel_duration_ns"] for row in rows) + 7
    assert icicle.values[0] == whole
    inside: dict[str, int] = {}
    for parent, value in zip(icicle.parents, icicle.values, strict=True):
        inside[parent] = inside.get(parent, 0) + value
    for id_, cell, value in zip(icicle.ids, icicle.customdata, icicle.values, strict=True):
        assert inside.get(id_, 0) + cell[1] == value
    folded = [int(re.findall(r"[0-9]+", one)[0]) for one in icicle.labels if one.startswith("other")]
    assert len(icicle.ids) - len(folded) + sum(folded) == len(rows) + 2  # All kernels, and those linked to no op.


def test_a_module_lies_in_the_one_around_it_whatever_its_name_is() -> None:
    rows = [
        module_row("", "Net", 1),
        module_row("", "[Backward]Net", 2),
        module_row("Net", "a/b", 4),
        module_row("Net/a/b", "[Backward]c", 8),
        module_row("Net/a", "b", 16),
        module_row("gone/too", "far", 32),
    ]
    (icicle,) = modules(root_of(rows, []), 1).data
    assert len(set(icicle.ids)) == 7
    name_of = dict(zip(icicle.ids, icicle.labels, strict=True))
    lies_in = {
        (name_of.get(parent), name): value
        for parent, name, value in zip(icicle.parents, icicle.labels, icicle.values, strict=True)
    }
    assert lies_in == {
        (None, "all compute"): 63,
        ("all compute", "Net"): 21,
        ("all compute", "[Backward]Net"): 10,
        ("Net", "a/b"): 4,
        ("[Backward]Net", "[Backward]c"): 8,
        ("Net", "b"): 16,
        ("all compute", "far"): 32,
    }


@pytest.mark.parametrize(
    ("computes", "kernels", "expected"),
    [
        (True, "compute", {"all compute": 14, "Net": 10, "(outside modules)": 4}),
        (True, "all", {"all kernels": 120, "Net": 40, "(outside modules)": 80}),
        (False, "compute", {"all kernels": 106, "Net": 30, "(outside modules)": 76}),
    ],
)
def test_communication_hides_no_compute(computes: bool, kernels: Kernels, expected: dict[str, int]) -> None:
    """Communication counts where it is asked for, and where nothing computes."""
    own, beside = (10, 4) if computes else (0, 0)
    rows = [{**module_row("", "Net", own), "own_kernel_duration_ns": own + 30}]
    outside = [{"location": "outside modules", "kernel_duration_ns": beside + 76, "computing_ns": beside}]
    (icicle,) = modules(root_of(rows, outside, kernels), 1).data
    assert dict(zip(icicle.labels, icicle.values, strict=True)) == expected


def test_many_steps_are_the_means_of_steps_in_a_row_and_the_picture_says_so() -> None:
    rows = [step_row(str(rank), step, 100 + step, 50) for rank in range(2) for step in range(1000)]
    figure = steps(rows)
    computing = figure.data[0]
    assert len(computing.x) == 400
    assert "a bar is the mean of up to 5 steps in a row" in figure.layout.title.subtitle.text
    assert sum(cell[0] for cell in computing.customdata) == sum(row["computing_ns"] for row in rows)
    assert computing.customdata[0][:2] == [100 + 101 + 102 + 103 + 104, "rank 0, steps 0 to 4: 152 ns"]
    assert computing.y[0] == 102 / 1e6


def test_many_ranks_are_folded_in_each_picture() -> None:
    rows = [step_row(str(rank), 0, 100, 50) for rank in range(1000)]
    figure = steps(rows)
    assert len(figure.data[0].x) == 334 and sum(cell[0] for cell in figure.data[0].customdata) == 100_000
    assert figure.layout.title.subtitle.text.endswith("a bar is the mean of all steps of 3 ranks in a row")
    times = [
        {**row, "parent_module": "", "module": "Net", "own_computing_ns": 100 + (row["rank_id"] == 777), "step_count": 1}
        for row in rows
    ]
    figure = ranks(times, [{"profile": "999"}])
    (heat,) = figure.data
    assert "256 of 1,000 ranks: those that differ most" in figure.layout.title.subtitle.text
    assert {cell[1]: round(value, 6) for cell, value in zip(heat.customdata[0], heat.z[0], strict=True)}["777"] == 0.01
    assert "▼ 999" in figure.layout.xaxis.ticktext


def test_a_rank_is_compared_with_the_median_of_its_run_per_step() -> None:
    time = {"parent_module": "Net", "module": "Linear"}
    rows = [
        {**time, "run": run, "profile": f"{run}/{rank}", "rank_id": rank, "own_computing_ns": ns, "step_count": count}
        for run, rank, ns, count in (("a", 0, 100, 1), ("a", 1, 240, 2), ("a", 2, 80, 1), ("b", 0, 1000, 1), ("b", 1, 3000, 1))
    ]
    (heat,) = ranks(rows, [{"run": "a", "profile": "a/1"}]).data
    assert list(heat.z[0]) == pytest.approx([0, 0.2, -0.2, -0.5, 0.5])


def test_groups_beyond_the_first_are_one_bar_that_keeps_their_sums() -> None:
    groups = [
        {"type": f"t{n}", "group_name": f"g{n}", "op_count": 1, "elapse_ns": 10, "transit_ns": 4, "wait_ns": 3, "idle_ns": None,
         "unknown_ns": 3}
        for n in range(100)
    ]  # fmt: skip
    parts = {trace.name: [cell[0] for cell in trace.customdata] for trace in communication(groups).data}
    assert parts == {"transfer": [4] * 19 + [324], "wait": [3] * 19 + [243], "not split": [3] * 19 + [243]}


@pytest.mark.parametrize(("count", "texts"), [(10, ["step 1", "step 10"]), (11, ["1", "11"]), (40, ["1", "40"]), (41, [])])
def test_steps_are_shaded_behind_memory_and_named_while_there_is_room(count: int, texts: list[str]) -> None:
    moment = {"since_ns": 0, "time_ns": 5, "allocated_bytes": 8, "active_bytes": None, "reserved_bytes": None}
    shown = [{"step_id": step, "since_ns": step * 10**6, "until_ns": (step + 1) * 10**6} for step in range(1, count + 1)]
    figure = memory([moment], [], shown, "device 0")
    assert [one.text for one in figure.layout.annotations][:: max(count - 1, 1)] == texts
    spans = [(shape.x0, shape.x1) for shape in figure.layout.shapes]
    assert spans == [(step, step + 1) for step in range(1, count + 1) if texts], "ms"


def test_a_timeline_of_deep_modules_on_many_streams_says_how_many_rows_it_leaves_out() -> None:
    bar = {"lane": 0, "since_ns": 0, "until_ns": 100, "duration_ns": 100, "row_count": 1}
    calls = [{**bar, "depth": depth, "name": f"Module{depth}", "is_backward": False} for depth in range(10)]
    kernel = {**bar, "device_id": 0, "group_name": None, "kind": "compute", "name": "mm", "op_name": None, "module_path": None}
    kernels = [{**kernel, "stream_id": stream, "duration_ns": 100 - stream} for stream in range(15)]
    figure = timeline(calls, kernels, [], 100, "step 1")
    rows = list(figure.layout.yaxis.ticktext)
    assert rows == ["modules", *[""] * 7, *(f"stream {stream}" for stream in range(12)), "idle"], "the busiest streams"
    said = "step 1; 2 more rows of modules not shown; 3 more rows of streams not shown"
    assert figure.layout.title.subtitle.text == said
    drawn = [place for one in figure.data for place in one.y]
    assert sorted(drawn) == list(range(8 + 12))


@pytest.mark.slow
def test_names_from_files_are_text_in_every_picture(tmp_path: Path, chromium: Any) -> None:
    for rank in range(2):
        write_hostile(tmp_path, rank)
    with open_profile(tmp_path) as profile:
        figures = [profile.plot.modules(), profile.plot.steps(), profile.plot.ranks(), profile.plot.timeline()]
        figures.append(profile.plot.communication())
    for figure in figures:
        for text in texts_of(json.loads(figure.to_json())):
            assert LONG[:400] not in text and len(text) < 1200, text[:100]
            rest = OURS.sub("", text)
            assert "<" not in rest and "$" not in rest, text
            assert not re.search("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]", text), text
    assert_harmless(figures, tmp_path, chromium)


def assert_harmless(figures: list[Any], folder: Path, browser: Any) -> None:
    """Open pictures in a browser: no script of a name runs, nothing is fetched, nothing fails, and a click zooms."""
    page_file = folder / "pictures.html"
    parts = [one.to_html(full_html=False, include_plotlyjs=place == 0, div_id=f"p{place}") for place, one in enumerate(figures)]
    page_file.write_text(f"<!doctype html><meta charset=utf-8>{''.join(parts)}", encoding="utf-8")
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if request.url != page_file.as_uri() else None)
    page.goto(page_file.as_uri())
    page.wait_for_function(f"document.querySelectorAll('.main-svg').length >= {len(figures)}")
    before = page.locator("#p0 .slice").count()
    page.locator("#p0 .slice").nth(1).click()
    page.wait_for_function(f"document.querySelectorAll('#p0 .slice').length !== {before}")
    assert page.evaluate("window.owned") is None
    assert said == []
    page.close()


def test_a_label_shows_what_a_name_holds_and_hides_nothing() -> None:
    assert label("<b>&amp;$x$\u202e\n") == "&lt;b&gt;&amp;amp;&#36;x&#36;\\u202e\\n"
    assert label("x" * 61) == f"{'x' * 30}…{'x' * 29}"


@pytest.mark.slow
def test_a_picture_that_the_profile_cannot_answer_fails_like_the_question(tmp_path: Path) -> None:
    write_profile(tmp_path / "0_ascend_pt", unlinked=[Kernel("a", 10, 20)])
    with open_profile(tmp_path) as profile:
        pairs = (
            (profile.plot.modules, profile.module_tree),
            (profile.plot.ranks, profile.module_stats),
            (profile.plot.communication, profile.communication_time),
            (profile.plot.memory, profile.memory),
        )
        for picture, question in pairs:
            with pytest.raises(InputError) as drawn:
                picture()
            with pytest.raises(InputError) as asked:
                question()
            assert str(drawn.value) == str(asked.value)
        with pytest.raises(InputError, match="no rank 7 with kernels"):
            profile.plot.timeline(rank=7)
        with pytest.raises(InputError, match=says("no step 3 in rank 0", "no steps").pattern):
            profile.plot.timeline(step=3)
        assert profile.plot.timeline().data[0].customdata[0][:2] == [10, 1]


def test_one_rank_alone_is_not_compared(tmp_path: Path) -> None:
    write_profile(tmp_path / "0_ascend_pt", [Op("mul", 12, 15, (Kernel("a", 20, 30),))], [Range("Net", 10, 18)])
    with open_profile(tmp_path) as profile, pytest.raises(InputError, match="one rank alone cannot be compared"):
        profile.plot.ranks()


def test_a_comparison_draws_what_changed_in_each_module(tmp_path: Path) -> None:
    def run(name: str, *work: Any) -> Path:
        return write_run(tmp_path / name, [[module("Net", *work)]] * 2)

    base = run("base", ("mul", 100), module("Old", ("add", 50)), module("Same", ("sub", 70)))
    new = run("new", ("mul", 130), module("Same", ("sub", 70)), module("More", ("exp", 20)))
    with compare(base, new) as comparison:
        figure = comparison.plot.modules()
        rows = {row["module"]: row for row in comparison.rows("FROM runs.module_comparison")}
    (icicle,) = figure.data
    name = dict(zip(icicle.ids, icicle.labels, strict=True))
    shown = {
        one: (name.get(parent), value, cell[1], *cell[2:5])
        for one, parent, value, cell in zip(icicle.labels, icicle.parents, icicle.values, icicle.customdata, strict=True)
    }
    assert shown == {
        "all kernels": (None, 440, 0, "0 ns", "220 ns", "220 ns"),
        "Net[0]": ("all kernels", 440, 230, "0 ns", "220 ns", "220 ns"),
        "Old[0]": ("Net[0]", 50, 50, "-50 ns", "50 ns", "0 ns"),
        "Same[0]": ("Net[0]", 140, 140, "0 ns", "70 ns", "70 ns"),
        "More[0]": ("Net[0]", 20, 20, "+20 ns", "0 ns", "20 ns"),
    }
    assert all(round(row["base_self_ns"] + row["new_self_ns"]) == shown[one][2] for one, row in rows.items())
    colour = dict(zip(icicle.labels, icicle.marker.colors, strict=True))
    assert colour["Old[0]"] == "#0072b2" and colour["Same[0]"] == "#f2f2f2"  # The largest difference, and none.
    (menu,) = figure.layout.updatemenus
    assert [button.label for button in menu.buttons] == ["colour: difference", "colour: own difference"]
    own = dict(zip(icicle.labels, menu.buttons[1].args[0]["marker.colors"][0], strict=True))
    assert own["Old[0]"] == "#0072b2" and own["Net[0]"] == colour_at(0.8, DIVERGING), "+30 ns, of 50 ns at most"


@pytest.mark.parametrize("scale", [SEQUENTIAL, DIVERGING, (UNKNOWN, UNKNOWN)])
def test_text_in_a_sector_is_readable_in_front_of_each_colour(scale: tuple[str, ...]) -> None:
    for place in range(101):
        colour = colour_at(place / 100, scale)
        lighter, darker = sorted((luminance(colour), luminance(ink_on(colour))), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, colour


def test_a_picture_of_a_notebook_shows_buttons_of_a_fixed_list_and_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderers, "default", "plotly_mimetype")
    monkeypatch.setattr(still, "_failures", [])
    monkeypatch.setitem(sys.modules, "kaleido", None)  # Pixels have no buttons, and take a browser for each picture.
    for figure, buttons in ((modules(root_of([module_row("", "Net", 10)], []), 1), 1), (steps([step_row("0", 1, 100, 50)]), 7)):
        for shown in (figure.to_html(), figure._repr_html_(), json.dumps(figure._repr_mimebundle_(), default=str)):
            config = shown.replace("\\", "").replace(" ", "")
            assert '"showSendToCloud":false' in config
            (named,) = re.findall(r'"modeBarButtons":(\[\[.*?\]\])', config)
            assert sum(map(len, json.loads(named))) == buttons


def test_a_notebook_without_kaleido_stores_the_interactive_picture_and_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(renderers, "default", "plotly_mimetype")
    monkeypatch.setattr(still, "_failures", [])
    monkeypatch.setitem(sys.modules, "kaleido", None)
    bundle = steps([step_row("0", 1, 100, 50)])._repr_mimebundle_()
    assert {*bundle} == {"application/vnd.plotly.v1+json", "text/plain"}
    assert bundle["text/plain"] == (
        "Interactive picture: Where the time of steps went (with kaleido and Chrome, a saved notebook shows it too)"
    )


@pytest.mark.slow
def test_a_notebook_stores_a_picture_in_pixels_beside_the_interactive_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("kaleido")
    if not any(map(shutil.which, ("chromium", "google-chrome"))):
        pytest.skip("needs Chrome or chromium")
    monkeypatch.setattr(renderers, "default", "plotly_mimetype")
    monkeypatch.setattr(still, "_failures", [])
    bundle = steps([step_row("0", 1, 100, 50)])._repr_mimebundle_()
    assert b64decode(bundle["image/png"]).startswith(b"\x89PNG"), still._failures
    assert bundle["text/plain"] == "Interactive picture: Where the time of steps went"


def test_both_themes_recolour_all_that_is_no_figure() -> None:
    light, dark = theme(False).layout, theme(True).layout
    assert light.paper_bgcolor == light.plot_bgcolor == "#ffffff" != dark.paper_bgcolor == dark.plot_bgcolor
    assert {light.font.color, light.hoverlabel.font.color}.isdisjoint({dark.font.color, dark.hoverlabel.font.color})
