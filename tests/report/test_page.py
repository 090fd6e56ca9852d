"""Reports as files: what they hold, what they never hold, and where they are written."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from prof_analysis import open_profile, open_profiles
from prof_analysis.pictures.figures.communication import communication
from prof_analysis.pictures.figures.ranks import ranks
from prof_analysis.pictures.figures.steps import steps
from prof_analysis.pictures.report.page import Page, as_json, html_of
from prof_analysis.pictures.report.parts import Section
from prof_analysis.pictures.report.pictures import picture_of
from prof_analysis.pictures.report.profile import table_of_ranks
from tests.figures.test_pictures import step_row
from tests.helpers.cli import OPS, RANGES, STEPS, Command, only_json
from tests.helpers.hostile import MARKUP
from tests.helpers.says import says
from tests.helpers.small_profile import Range, write_profile
from tests.pipeline.test_pipeline import write_pipeline

SECTIONS = ["verdict", "matters", "modules", "steps", "ranks", "timeline", "kernels", "communication", "memory", "made"]


class Parsed(HTMLParser):
    """The elements of a page, with their attributes, and the text of its scripts."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        last = self.elements[-1][0] if self.elements else ""
        if last == "wbr":
            self.texts[-1] += data
        else:
            (self.scripts if last == "script" else self.texts).append(data)


def test_a_report_loads_nothing_and_runs_only_its_own_scripts(page_of_sample: Path) -> None:
    parsed = Parsed(page_of_sample)
    links = {value for _, attributes in parsed.elements for name, value in attributes.items() if name in ("href", "src")}
    assert links == {f"#{section}" for section in SECTIONS}
    (policy,) = (one["content"] or "" for _, one in parsed.elements if one.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy.partition("style-src")[0]
    own = next(text for text in parsed.scripts if '"use strict"' in text[:20])
    assert f"'sha256-{b64encode(sha256(own.encode()).digest()).decode()}'" in policy
    assert page_of_sample.stat().st_size < 2_600_000
    data = next(text for text in parsed.scripts if text.startswith('{"themes"'))
    assert len(data) < 300_000


def test_a_report_reads_from_what_matters_to_how_it_was_made(page_of_sample: Path) -> None:
    parsed = Parsed(page_of_sample)
    assert [one["id"] for tag, one in parsed.elements if tag == "section"] == SECTIONS
    text = " ".join(" ".join(parsed.texts).split())
    sentences = text.split(". ")
    for said in (
        says(
            "Qwen2DecoderLayer/[Backward]Qwen2Attention 220.33 us (14.6% of compute)",
            "Qwen2Attention/[Backward]Linear 206.46 us (13.7% of compute)",
            "Qwen2MLP/[Backward]Linear 172.39 us (11.4% of compute)",
        ),
        says("at least 0.0% of the peak", "MFU, idle time included", "matrix products reach 0.3%"),
        says("hides 41.7% of the communication", "124.12 us", "exposed", "3.8% of the time"),
        says("idle for 1.62 ms (49.8% of the time)", "main cause: between queue and device", "62.8% of it"),
        says("No rank makes the others wait"),
        says("Modules do not account for 7.4%"),
    ):
        assert said in sentences
    assert "recorded 2026-01-01 00:00 UTC" in text and "Ascend910B Qwen2ForCausalLM" in text
    for part in ("computing 375.32 us 46.0%", "communication alone 31.03 us 3.8%", "idle 403.85 us 49.5%"):
        assert part in text
    causes = (
        "The host launches kernels too slowly",
        "Matrix cores idle while",
        "Small messages",
        "2 further findings",
        "SwiGLU",
    )
    places = [text.index(one) for one in causes]
    assert places == sorted(places), "what wins most comes first, and what may count the same time is folded away"
    assert '"The host launches kernels too slowly" may count all of this win too' in text
    pictures = [one for _, one in parsed.elements if "data-figure" in one]
    assert [one["data-figure"] for one in pictures] == ["modules", "steps", "ranks", "timeline", "communication", "memory"]
    assert all(one["role"] == "img" and one["aria-label"] for one in pictures)


@pytest.mark.slow
def test_hostile_names_end_no_element(hostile_pages: list[Path]) -> None:
    for file in hostile_pages:
        text, parsed = file.read_text(encoding="utf-8"), Parsed(file)
        assert not [markup for markup in MARKUP if markup in text]
        assert not [tag for tag, _ in parsed.elements if tag in ("img", "svg", "b")]
        assert not [one for _, one in parsed.elements if any(name.startswith("on") for name in one)]
        assert len([tag for tag, _ in parsed.elements if tag == "script"]) == 3
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x1b]", text)
        assert file.stat().st_size < 3_000_000, "names of 40,000 characters are shortened"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a rank, in the folders a and b; tests keep what they build of them in the folder store."""
    folder = tmp_path_factory.mktemp("runs")
    owned = Range(f"</script>{MARKUP[0]}=1</script><b>bold</b>", 104, 126)
    for run in ("a", "b"):
        write_profile(folder / run / "0_ascend_pt", OPS, [*RANGES, owned], steps=STEPS)
    return folder


@pytest.fixture
def small_page(runs: Path, command: Command) -> Path:
    """The report of the run a, written once for all tests."""
    page = runs / "out" / "report.html"
    if not page.exists():
        result = command("report", runs / "a", "-o", page.parent, "--cache", runs / "store")
        assert (result.exit_code, result.stdout) == (0, f"wrote {page}\n"), (result.exception, result.stderr)
    return page


def test_data_in_a_page_ends_no_script() -> None:
    data = {"name": "</script><!-- a & b\u2028"}
    assert not re.search("[<>&\u2028]", as_json(data))
    assert json.loads(as_json(data)) == data


def test_names_that_are_markup_end_no_element(small_page: Path) -> None:
    text, parsed = small_page.read_text(encoding="utf-8"), Parsed(small_page)
    assert "window.owned" in text, "the name is there"
    assert not [markup for markup in MARKUP if markup in text]
    assert [tag for tag, _ in parsed.elements if tag in ("script", "b")] == ["script"] * 3


def test_what_a_profile_cannot_answer_has_the_reason_in_its_place(small_page: Path) -> None:
    text = " ".join(" ".join(Parsed(small_page).texts).split())
    lacking = "no records of device memory; collect with profile_memory=True"
    assert f"? Not answered: {lacking}" in text
    assert f"memory: {lacking}. details" in text, "among what matters too"
    assert "Which rank makes the others wait? Not answered: one rank alone" in text


@pytest.mark.slow
def test_files_are_read_once_for_all_questions_of_a_report_together(tmp_path: Path, runs: Path) -> None:
    done: list[int] = []
    with open_profile(runs / "a", on_progress=lambda now, _: done.append(now)) as profile:
        profile.report(tmp_path / "report.html")
    assert done and done == sorted(done)


@pytest.mark.slow
def test_a_pipeline_has_a_section_of_its_own(tmp_path: Path) -> None:
    write_pipeline(tmp_path / "job")
    with open_profile(tmp_path / "job") as profile:
        parsed = Parsed(profile.report(tmp_path / "report.html"))
    assert [one["id"] for tag, one in parsed.elements if tag == "section"] == [*SECTIONS[:5], "pipeline", *SECTIONS[5:]]
    text = " ".join(" ".join(parsed.texts).split())
    assert "Ranks by pipeline stage" in text
    assert "Not answered: mfu: " in text, "of several commands in a section it is said which has no answer"
    data = json.loads(next(text for text in parsed.scripts if text.startswith('{"themes"')))
    drawn = [cell[1] for bar in data["figures"]["pipeline"]["data"] if bar["name"] == "forward" for cell in bar["customdata"]]
    assert drawn == [100] * 4


def test_only_reports_are_replaced(tmp_path: Path, runs: Path, command: Command) -> None:
    other, report = tmp_path / "mine.html", tmp_path / "report.html"
    text = command("report", runs / "a", "-o", tmp_path / "report.txt")
    assert text.exit_code == 3
    assert says("report.txt: ", "HTML file", "a name that ends in .html", "with -o") in text.stderr.splitlines()
    other.write_text("<p>mine</p>", encoding="utf-8")
    result = command("report", runs / "a", "-o", other)
    assert result.exit_code == 3
    assert says(f"{other}: ", "no report of prof-analysis", "not replaced") in result.stderr.splitlines()
    assert other.read_text(encoding="utf-8") == "<p>mine</p>"
    report.write_text('<!doctype html>\n<meta name="generator" content="prof-analysis">\nof yesterday', encoding="utf-8")
    answer = only_json(command("report", runs / "a", "-o", report, "--json", "--cache", runs / "store"))
    assert (answer["status"], answer["files"]) == ("done", [str(report)])
    assert "of yesterday" not in report.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.html", "report.html"], "nothing unfinished"


@pytest.mark.slow
def test_several_runs_have_one_page(tmp_path: Path, runs: Path) -> None:
    with open_profiles({"<a>": runs / "a", "b": runs / "b"}, cache=runs / "store") as profile:
        parsed = Parsed(profile.report(tmp_path / "report.html"))
    assert parsed.texts.count("Run <a>") == parsed.texts.count("Run b") > 3
    text = " ".join(" ".join(parsed.texts).split())
    verdict, matters = text.split(" What matters ")[-2:]
    assert verdict.count("A step") == 2, "each run has its own"
    assert verdict.count("1 rank, read from the profiler database") == 2, "of the two ranks in all"
    of_a, of_b = matters.split("Run <a>")[1].split("Run b")[:2]
    assert of_a.count(" Idle ") == 1 and " Idle " in of_b, "what matters is said by run"
    data = json.loads(next(text for text in parsed.scripts if text.startswith('{"themes"')))
    assert len(data["figures"]["modules"]["data"][0]["ids"]) > 6


def test_a_page_of_many_ranks_folds_them_and_says_so() -> None:
    profiles = [f"node{rank // 8}_{rank}_20260101000000000_ascend_pt" for rank in range(1024)]
    steps_of_ranks = [step_row(str(rank), 1, 10**6 + rank, 10**5) for rank in range(1024)]
    layers = [f"Net/Model/Layer/[Backward]Attention/Linear[{layer}]" for layer in range(12)]
    times = [
        {"profile": profile, "rank_id": rank, "parent_module": layer, "module": "Linear", "own_computing_ns": 10**6 + rank}
        | {"step_count": 2}
        for rank, profile in enumerate(profiles)
        for layer in layers
    ]
    links = [
        {"source": f"{rank}", "destination": f"{other}", "size_bytes": 10**8, "duration_ns": 10**6, "is_slow": False}
        | {"links": "HCCS"}
        for rank in range(1024)
        for other in range(rank // 8 * 8, rank // 8 * 8 + 8)
        if other != rank
    ]
    found = [
        {"profile": profile, "rank_id": rank, "device_id": rank % 8, "answers": ["step-time"], "profiler_level": "Level1"}
        | {"modules_from": "mstx", "read_from": "database", "rank_id_from": "profiler_info.json", "files": ["a.db"]}
        for rank, profile in enumerate(profiles)
    ]
    found[1000]["answers"] = []
    ranks_part = table_of_ranks(found)
    drawn = {"steps": steps(steps_of_ranks), "ranks": ranks(times), "communication": communication([], links)}
    section = Section("ranks", "Ranks", "?", [picture_of(name, "", figure) for name, figure in drawn.items()])
    text = html_of(Page("Many", [], [], [section], Section("made", "How it was made", "?", [ranks_part]), ""))
    assert len(text) < 3_000_000
    rows = [[cell.text for cell in row] for row in ranks_part.rows]
    assert len(rows) == 100
    assert rows[98][:2] == [profiles[1000], "1,000"], "a rank that answers less than others is shown"
    assert rows[99] == ["other (925 ranks)", "-", "-", rows[0][3], "Level1", "mstx", "database", "profiler_info.json", "a.db"]
