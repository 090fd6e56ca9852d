"""The Python API: opening, closing, and what it says when it cannot answer."""

import tempfile
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

import prof_analysis
from prof_analysis import InputError, OutputError, ProfAnalysisError, ProfAnalysisWarning, Profile, QueryError, open_profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.analyses.answer import Entry, Sentences
from prof_analysis.analyses.answering import answer_of
from prof_analysis.sources.ascend_beside.profiler_info import NO_GRAPH_CALLS
from tests.helpers.answers import answered_without
from tests.helpers.api import OPS, RANGES
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, edit, write_profile


@pytest.mark.slow
def test_module_stats_in_one_line(one: Path) -> None:
    with open_profile(one) as profile:
        expected = profile.module_stats()
    pd.testing.assert_frame_equal(prof_analysis.module_stats(str(one)), expected)


@pytest.mark.slow
def test_the_one_line_takes_the_options_of_a_profile(two: Path) -> None:
    assert arrow_of(prof_analysis.module_stats(two, rank_list=[3], step_id=8)).num_rows == 1


def test_a_profile_leaves_no_temporary_files(one: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with open_profile(one) as profile:
        profile.kernels()
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []
    with pytest.raises(ZeroDivisionError), open_profile(one) as profile:
        profile.kernels()
        raise ZeroDivisionError
    assert list(temporary.iterdir()) == []
    with pytest.raises(InputError, match="there is no step 9"):
        open_profile(one, step_id=9)
    assert list(temporary.iterdir()) == []


def test_closing_twice_is_harmless(one: Path) -> None:
    profile = open_profile(one)
    profile.close()
    profile.close()


def test_the_repr_shows_the_ranks_and_each_answer_and_reason_once(tmp_path: Path) -> None:
    write_profile(tmp_path / "a<b>$x$_ascend_pt", OPS, RANGES, rank=4)
    write_profile(tmp_path / "c_ascend_pt", OPS, rank=None)
    (tmp_path / "d_ascend_pt").mkdir()
    asked: list[int] = []
    with pytest.warns(ProfAnalysisWarning, match="is empty"):
        profile = open_profile(tmp_path, on_progress=lambda done, _: asked.append(done))
    with profile:
        lines = repr(profile).splitlines()
        assert not asked, "looking reads nothing"
        html = profile._repr_html_()
    count = len(ANALYSES)
    of_a, of_c = (
        answered_without(
            "clock",
            "counters",
            "graph_calls",
            "host_calls",
            "reported_host_calls",
            "memory",
            "static_memory",
            "stacks",
            "transfers",
        ),
        answered_without(
            "modules",
            "clock",
            "counters",
            "marks",
            "graph_calls",
            "host_calls",
            "reported_host_calls",
            "memory",
            "static_memory",
            "stacks",
            "transfers",
        ),
    )
    assert lines[0] == f"Profile {tmp_path}: 2 of 3 ranks readable"
    assert [line.split() for line in lines[1:5]] == [
        ["rank", "folder", "device", "answers", "level", "modules", "from", "read", "from"],
        f"4 a<b>$x$_ascend_pt - {len(of_a)} of {count} - mstx the profiler database".split(),
        f"- c_ascend_pt - {len(of_c)} of {count} - - the profiler database".split(),
        f"- d_ascend_pt - 0 of {count} - - -".split(),
    ]
    assert f"answers: {', '.join(of_a)} (rank 4)" in lines
    assert f"answers: {', '.join(of_c)} (folder c_ascend_pt)" in lines
    assert f"cannot answer graph-overhead: {NO_GRAPH_CALLS} (folders a<b>$x$_ascend_pt, c_ascend_pt)" in lines
    assert sum(line.startswith(f"left out: {tmp_path / 'd_ascend_pt'}: ") for line in lines) == 1
    assert len(lines) == len(set(lines))
    root = ElementTree.fromstring(html)
    assert root.attrib == {"class": "tex2jax_ignore mathjax_ignore"}, "a $ in a name begins no formula"
    of_ranks = root.findall("table")[-1]
    assert [cell.text for cell in of_ranks.iter("th")] == [
        "rank", "folder", "device", "answers", "level", "modules from", "read from"
    ]  # fmt: skip
    assert [[cell.text for cell in row.iter("td")] for row in of_ranks.iter("tr")][1:] == [
        ["4", "a<b>$x$_ascend_pt", "-", f"{len(of_a)} of {count}", "-", "mstx", "the profiler database"],
        ["-", "c_ascend_pt", "-", f"{len(of_c)} of {count}", "-", "-", "the profiler database"],
        ["-", "d_ascend_pt", "-", f"0 of {count}", "-", "-", "-"],
    ]
    assert [item.text for item in root.findall("ul")[-1]] == lines[5:-1]
    (code,) = root.iter("code")
    assert lines[-1] == f"next: {str(code.text).splitlines()[0]}"
    assert [line.partition("()")[0] for line in str(code.text).splitlines()] == [
        "profile.diagnose", "profile.advise", "profile.module_stats", "profile.step_time", "profile.mfu", "profile.plot.modules"
    ]  # fmt: skip


def test_a_notebook_shows_the_verdict_on_a_small_profile(kept: Path, kept_sample: Path, tmp_path: Path) -> None:
    """The same words as the command; a profile of many ranks says how to ask for it."""
    with open_profile(kept_sample, cache=kept) as profile:
        root = ElementTree.fromstring(profile._repr_html_())
        blocks = answer_of(profile, "diagnose", 10).blocks
    shown = [" ".join(" ".join(one.itertext()).split()) for one in root]
    said = [line for block in blocks if isinstance(block, Sentences) for line in block.lines]
    assert all(line in " ".join(shown) for line in said[:-1])
    assert shown[2].startswith("a step time share of it computing 375.32 us 46.0% communication alone 31.03 us 3.8% idle")
    headings = [one.heading for one in blocks if isinstance(one, Entry)]
    assert [one for one in shown if one in headings] == headings and len(headings) == 3
    for rank in range(9):
        write_profile(tmp_path / f"{rank}_ascend_pt", OPS, RANGES, rank=rank)
    asked: list[int] = []
    with open_profile(tmp_path, on_progress=lambda done, _: asked.append(done)) as profile:
        assert "profile.diagnose()" in profile._repr_html_()
    assert not asked


def test_the_repr_of_many_ranks_is_short(tmp_path: Path) -> None:
    for rank in range(23):
        (tmp_path / f"{rank}_ascend_pt").mkdir()
    with pytest.warns(ProfAnalysisWarning), open_profile(tmp_path) as profile:
        lines, html = repr(profile).splitlines(), profile._repr_html_()
    assert lines[22] == "  and 3 more: see .ranks()"
    assert html.count("<tr>") == 1 + 20
    assert "<p>and 3 more: see .ranks()</p>" in html


def test_a_broken_rank_is_a_warning_and_a_failure_and_the_others_answer(two: Path) -> None:
    (broken,) = (two / "a_ascend_pt").rglob("*.db")
    broken.write_bytes(broken.read_bytes()[:4096])
    with pytest.warns(ProfAnalysisWarning) as warned, open_profile(two) as profile:
        assert profile.kernels()["rank_id"].tolist() == [3] * 5
        assert profile.ranks()["rank_id"].tolist() == [0, 3]
        assert len(profile.failures) == 1
        assert profile.failures[0].startswith(f"{broken}: ")
    assert [str(one.message) for one in warned] == profile.failures


def test_when_no_rank_can_be_read_the_error_names_the_file(two: Path) -> None:
    databases = sorted(two.rglob("*.db"))
    for database in databases:
        database.write_bytes(b"not a database, " * 100)
    with pytest.warns(ProfAnalysisWarning), open_profile(two) as profile:
        for ask in (profile.module_stats, profile.module_tree, profile.coverage, profile.kernels, profile.ops):
            with pytest.raises(InputError) as error:
                ask()
            assert str(error.value).startswith(f"{databases[0]}: ")
            assert str(error.value).endswith("(and 1 more ranks failed)")
        assert profile.ranks()["left_out"].notna().all()


def test_a_rank_without_module_ranges_beside_one_with_them_adds_no_rows_and_is_named(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, rank=0)
    write_profile(tmp_path / "b_ascend_pt", OPS, RANGES, rank=1)
    with open_profile(tmp_path) as profile:
        with pytest.warns(ProfAnalysisWarning, match="a_ascend_pt: no module ranges"):
            assert profile.module_tree()["rank_id"].tolist() == [1, 1]
        coverage = profile.sql(
            "SELECT rank_id, location, sum(kernel_duration_ns) FROM module.coverage GROUP BY ALL ORDER BY ALL"
        )
    assert coverage.values.tolist() == [
        [0, "inside modules", 0],
        [0, "linked to no op", 0],
        [0, "outside modules", 200],
        [1, "inside modules", 150],
        [1, "linked to no op", 0],
        [1, "outside modules", 50],
    ]


@pytest.mark.slow
def test_replayed_graphs_are_a_reason_and_a_warning_with_the_remedy(one: Path) -> None:
    edit(next(one.rglob("*.db")), "UPDATE TASK SET modelId = 3 WHERE connectionId = -1")
    with open_profile(one) as profile:
        with pytest.warns(ProfAnalysisWarning) as warned:
            coverage = profile.coverage()
            profile.module_stats()
        assert [str(warning.message) for warning in warned] == [
            says(
                "a_ascend_pt: ", "33.3% of the kernel time", "replayed from graphs", "before the engine captures", "(--capture)"
            )
        ]
        assert coverage.query("reason == 'graph replay'")[["location", "kernel_duration_ns"]].values.tolist() == [
            ["linked to no op", 100]
        ]
        assert profile.module_stats()["total_kernel_duration_ns"].sum() == 150


def test_what_has_no_time_is_set_aside_with_a_warning_and_the_rest_answers(one: Path) -> None:
    (database,) = one.rglob("*.db")
    edit(database, "UPDATE PYTORCH_API SET endNs = '100' WHERE startNs = '130'")
    with open_profile(one) as profile:
        aside = says("a_ascend_pt: ", "ops set aside", "end before", 1)
        with pytest.warns(ProfAnalysisWarning, match=aside.pattern):
            assert profile.module_stats()["op_name"].tolist() == ["aten::mm"]
        profile.module_tree()
        assert profile.warnings == [aside]


def test_all_errors_are_of_one_family_and_the_class_is_public(one: Path) -> None:
    family = {InputError: ValueError, QueryError: ValueError, OutputError: OSError}
    assert {error: error.__bases__ for error in family} == {
        error: (ProfAnalysisError, builtin) for error, builtin in family.items()
    }
    with open_profile(one) as profile:
        assert isinstance(profile, Profile)
        with pytest.raises(InputError, match="export_type='xls': give db, xlsx, csv, "):
            profile.export(one, "xls")
        with pytest.raises(InputError, match="analysis='modules': give diagnose or module-stats"):
            profile.export(one, analysis="modules")
    assert [path.name for path in one.iterdir()] == ["a_ascend_pt"]


def test_a_database_without_texts_still_answers_times(tmp_path: Path) -> None:
    edit(
        write_profile(tmp_path / "a_ascend_pt", [Op("mm", 110, 120, (Kernel("k", 1000, 1040),))], RANGES),
        "DROP TABLE STRING_IDS",
    )
    with open_profile(tmp_path) as profile, pytest.warns(ProfAnalysisWarning, match="no STRING_IDS"):
        assert profile.kernels()["duration_ns"].tolist() == [40]


def test_a_warning_points_at_the_line_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "a_ascend_pt").mkdir()
    with pytest.warns(ProfAnalysisWarning, match="is empty") as warned:
        open_profile(tmp_path).close()
    assert [one.filename for one in warned] == [__file__]


def test_a_closed_profile_says_so(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    with open_profile(tmp_path) as profile:
        pass
    with pytest.raises(ProfAnalysisError, match="closed"):
        profile.kernels()


def test_the_package_lists_its_public_names_alone_and_has_each() -> None:
    assert dir(prof_analysis) == sorted(prof_analysis.__all__)
    assert {"Profile", "Comparison", "open_profile"} <= {*dir(prof_analysis)}
    for name in dir(prof_analysis):
        assert getattr(prof_analysis, name) is not None
    assert prof_analysis.Profile.__module__ == "prof_analysis.profile.profile"
