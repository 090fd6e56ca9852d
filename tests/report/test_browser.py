"""Reports in a real browser: they open from disk, load nothing, and answer to mouse and keyboard."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile

Open = Callable[..., Any]
BACKWARD_ATTENTION = "[Backward]Qwen2Attention"


@pytest.fixture(scope="module")
def open_page(chromium: Any) -> Iterator[Open]:
    """Open a page and wait until its pictures are drawn. At the end no page has asked for anything, nor written an error."""
    problems: list[str] = []

    def opened(file: Path, **options: Any) -> Any:
        page = chromium.new_page(**options)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        here = (file.as_uri(), "blob:null/", "data:")  # What a page makes itself, such as a picture to download.
        page.on("request", lambda request: None if request.url.startswith(here) else problems.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-drawn]", timeout=30_000)
        return page

    yield opened
    assert problems == []


@pytest.fixture(scope="module")
def opened_sample(open_page: Open, page_of_sample: Path) -> Any:
    return open_page(page_of_sample, viewport={"width": 1400, "height": 900})


@pytest.fixture
def sample(opened_sample: Any) -> Any:
    """The report of the sample, as it is when it has been opened."""
    opened_sample.evaluate("document.activeElement.blur(); scrollTo(0, 0); choose('all')")
    opened_sample.fill("#search", "")
    opened_sample.evaluate("document.activeElement.blur(); getSelection().removeAllRanges()")
    return opened_sample


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, *(pytest.param(one, marks=pytest.mark.slow) for one in (1, 2))])
def test_no_control_of_a_page_leaves_it(open_page: Open, request: pytest.FixtureRequest, which: int) -> None:
    # The hostile pages take longer than all else here.
    file = request.getfixturevalue("hostile_pages")[which - 1] if which else request.getfixturevalue("page_of_sample")
    page = open_page(file, viewport={"width": 1400, "height": 900}, accept_downloads=True)
    left: list[str] = []
    page.on("popup", lambda popup: left.append(popup.url))
    page.on("framenavigated", lambda frame: left.append(frame.url))
    page.evaluate("() => { window.open = (url) => { throw new Error(`opens ${url}`) } }")
    outside = "links => links.map(link => link.getAttribute('href')).filter(target => !target.startsWith('#'))"
    assert page.locator("[href]").evaluate_all(outside) == []
    assert page.locator("form, iframe, object, embed, [target]").count() == 0
    for picture in page.locator("[data-figure]").all():
        picture.scroll_into_view_if_needed()
        picture.hover()
        for button in picture.locator(".modebar-btn").all():
            button.click()
            assert page.locator(".plotly-cloud-dialog, [class*=dialog]").count() == 0, button.get_attribute("data-title")
    for button in page.locator("button:visible:not(.notifier-close), summary:visible").all():
        if button.is_visible():
            button.click()
    assert [url for url in left if not url.startswith(file.as_uri())] == []
    page.close()


def level(page: Any) -> str:
    """The name of the module to which the icicle is zoomed."""
    return str(
        page.evaluate("(([trace]) => trace.labels[Math.max(0, trace.ids.indexOf(trace.level))])(plots.get('modules').data)")
    )


def wait_until_chosen(page: Any, module: str) -> None:
    """Wait without a function in the page, which its policy of content forbids."""
    page.locator("#crumbs [aria-current]").filter(has_text=re.compile(f"^{re.escape(module)}$")).wait_for()


def test_the_icicle_zooms_with_its_tables(sample: Any) -> None:
    assert level(sample) == "all compute"
    sample.locator("#plot-modules g.slice", has_text=BACKWARD_ATTENTION).first.click()
    wait_until_chosen(sample, BACKWARD_ATTENTION)
    assert level(sample) == BACKWARD_ATTENTION
    assert sample.locator("tr[aria-current] td").first.inner_text() == BACKWARD_ATTENTION
    costs = sample.locator("#costs tbody tr").all_inner_texts()
    assert costs[0].split("\t")[:2] == ["aclnnFlashAttentionScoreGrad", "161.05 us"]
    assert not any("RmsNorm" in row for row in costs), "what lies elsewhere is not shown"
    sample.locator("#crumbs button").first.click()
    assert level(sample) == "all compute"


@pytest.mark.slow
def test_the_keyboard_alone_searches_moves_and_zooms(sample: Any) -> None:
    sample.evaluate("document.body.tabIndex = -1, document.body.focus()")
    sample.keyboard.press("Tab")
    assert sample.evaluate("document.activeElement.textContent") == "Skip to what matters"
    sample.focus("#search")
    sample.keyboard.type("qwen2rmsnorm")
    assert sample.locator("#found").inner_text() == "4 of 29 modules"
    sample.keyboard.press("Enter")
    assert sample.evaluate("document.activeElement.textContent") == "[Backward]Qwen2RMSNorm"
    sample.keyboard.press("End")
    sample.keyboard.press("Enter")
    chosen = "document.querySelector('#crumbs [aria-current]').textContent"
    assert (sample.evaluate(chosen), level(sample)) == ("Qwen2RMSNorm", "Qwen2Model"), "alone it would fill the picture"
    sample.keyboard.press("Escape")
    assert (sample.evaluate(chosen), level(sample)) == ("Qwen2Model", "Qwen2Model")
    sample.evaluate(
        "window.reached = new Set(), addEventListener('focusin', ({target}) => reached.add(target.closest('section')?.id))"
    )
    for _ in range(300):  # Each table, heading and link can be reached, and nothing holds the focus.
        sample.keyboard.press("Tab")
    sections = {"modules", "steps", "ranks", "timeline", "kernels", "communication", "memory", "made"}
    assert sections <= {*sample.evaluate("[...reached]")}


@pytest.mark.slow
def test_the_search_shows_what_it_finds_while_the_picture_is_zoomed(sample: Any) -> None:
    widths = "plots.get('modules').data[0].marker.line.width.filter((one) => one === 3).length"
    sample.locator("#plot-modules g.slice", has_text=BACKWARD_ATTENTION).first.click()
    wait_until_chosen(sample, BACKWARD_ATTENTION)
    sample.fill("#search", "crossentropy")
    assert sample.locator("#found").inner_text() == "2 of 29 modules"
    assert (level(sample), sample.evaluate(widths)) == ("all compute", 2), "one of them is in the forward"
    sample.fill("#search", "")
    assert sample.evaluate(widths) == 0
    sample.evaluate("document.activeElement.blur()")
    sample.locator("#plot-modules g.slice", has_text=BACKWARD_ATTENTION).first.click()
    wait_until_chosen(sample, BACKWARD_ATTENTION)
    sample.keyboard.press("Escape")
    assert level(sample) == "[Backward]Qwen2DecoderLayer"


@pytest.mark.slow
def test_the_verdict_fills_the_first_screen(sample: Any) -> None:
    for one in ("#verdict .bar", "#verdict .advice >> nth=0", "#verdict summary >> nth=0"):
        box = sample.locator(one).bounding_box()
        assert box["y"] + box["height"] < 900, one


@pytest.mark.slow
def test_a_small_profile_fits_on_four_pages_of_paper(open_page: Open, page_of_sample: Path) -> None:
    page = open_page(page_of_sample, viewport={"width": 1400, "height": 900})
    pages = re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", prefer_css_page_size=True))
    page.close()
    assert 1 < len(pages) <= 4


@pytest.mark.slow
def test_a_table_sorts_by_numbers_and_filters(sample: Any) -> None:
    table = sample.locator("#kernels table").first
    cells = table.locator("tbody tr td:nth-child(2)")
    values = "cells => cells.map(cell => Number(cell.dataset.v))"
    times = cells.evaluate_all(values)
    heading = table.locator("th button", has_text="total")
    heading.click()
    assert table.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    heading.click()
    assert table.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    assert cells.evaluate_all(values) == sorted(times) != times
    sample.locator("#kernels input").first.fill("matmul")
    assert table.locator("tbody tr:visible td:first-child").all_inner_texts() == ["MatMulV2"]


def test_pictures_have_the_figures_of_the_tables(sample: Any, kept: Path, kept_sample: Path) -> None:
    drawn = sample.evaluate(
        """() => {
            const [trace] = plots.get("modules").data;
            const steps = plots.get("steps").data.map((one) => [one.name, one.customdata.reduce((sum, [ns]) => sum + ns, 0)]);
            const modules = trace.ids.map((id, n) => [id, trace.values[n]]);
            return { modules: Object.fromEntries(modules), steps: Object.fromEntries(steps) };
        }"""
    )
    rows = sample.locator("tr[data-id]").evaluate_all(
        "rows => rows.map(row => [row.dataset.id, Number(row.querySelector('td[data-v]').dataset.v)])"
    )
    assert drawn["modules"] == dict(rows) and len(rows) == 29
    with open_profile(kept_sample, cache=kept) as profile:
        tree = profile.rows("SELECT sum(own_kernel_duration_ns)::BIGINT AS ns FROM module.tree")[0]["ns"]
        (total,) = profile.rows("SELECT sum(kernel_duration_ns)::BIGINT AS ns FROM module.coverage WHERE kind = 'compute'")
        (steps,) = profile.rows("SELECT * FROM across.step_total")
        costs = profile.rows("SELECT sum(duration_ns)::BIGINT AS ns FROM module.kernel WHERE module IS NOT NULL")[0]["ns"]
    assert drawn["modules"]["all"] == total["ns"]
    assert tree == costs == sample.evaluate("data.costs.rows.reduce((sum, row) => sum + row[2][1], 0)")
    assert drawn["steps"]["idle"] == steps["free_ns"]


@pytest.mark.slow
def test_light_and_dark_follow_the_system_and_the_button(open_page: Open, page_of_sample: Path) -> None:
    page = open_page(page_of_sample, color_scheme="dark", viewport={"width": 600, "height": 900})
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(22, 24, 29)"
    assert page.evaluate("plots.get('steps')._fullLayout.paper_bgcolor") == "#16181d"
    page.locator("#theme").click()
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    assert page.evaluate("plots.get('steps')._fullLayout.paper_bgcolor") == "#ffffff"
    assert page.evaluate("document.documentElement.scrollWidth") <= 600, "nothing is wider than a narrow window"
    page.locator("#theme").click()
    page.emulate_media(media="print")
    assert page.evaluate(ground) == "rgb(255, 255, 255)", "paper is white"
    assert not page.locator(".contents").is_visible()
    for side in ("Height", "Width"):
        is_whole = f"[...document.querySelectorAll('.scroll')].every((one) => one.scroll{side} <= one.client{side} + 1)"
        assert page.evaluate(is_whole), "on paper nothing scrolls"
    page.close()


@pytest.mark.slow
def test_hostile_names_are_text(open_page: Open, hostile_pages: list[Path]) -> None:
    for file in hostile_pages:
        page = open_page(file, viewport={"width": 1400, "height": 900})
        rows = page.locator("tr[data-id] button")
        names = rows.all_inner_texts()
        assert any("<img src=x" in name for name in names)
        assert not any(sign in name for name in names for sign in "\u202e\u2066\x1b")
        for number in range(0, len(names), 5):
            rows.nth(number).press("Enter")
        page.fill("#search", "<svg")
        assert page.evaluate("window.owned") is None
        assert page.locator("body img, body svg[onload], [onerror], [onmouseover]").count() == 0
        page.close()


@pytest.mark.slow
def test_a_comparison_shows_what_changed_in_a_module(open_page: Open, hostile_pages: list[Path]) -> None:
    page = open_page(hostile_pages[1])
    assert "base" in json.loads(page.locator("#data").inner_text())["costs"]["columns"]
    page.close()
