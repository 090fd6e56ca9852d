"""The command as a user or a script meets it: options that choose what a module, a step and a link are."""

import json
from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.cli import OPS, RANGES, Command, files_below, only_json
from tests.helpers.says import says
from tests.helpers.small_profile import Frame, Kernel, Launch, Op, Range, write_profile


@pytest.mark.parametrize(
    "words",
    [
        ["module-stats", "--profiling-path", "{}", "--export-type", "json", "--rank-list", "1", "--output-path", "{}/out"],
        ["module_stats", "--profiling_path", "{}", "--export_type", "json", "--rank_list", "1", "--output_path", "{}/out"],
    ],
)
def test_underscore_and_hyphen_are_alike(own_ranks: Path, command: Command, words: list[str]) -> None:
    result = command(*(word.format(own_ranks) for word in words))
    assert result.exit_code == 0
    rows = json.loads((own_ranks / "out" / "cluster_analysis_output" / "module_statistic.json").read_text(encoding="utf-8"))
    assert [row["rank_id"] for row in rows] == [1, 1]


@pytest.mark.slow
def test_step_id_chooses_kernels_by_the_step_of_their_op(ranks: Path, command: Command) -> None:
    query = "SELECT rank_id, name FROM module.kernel"
    answer = only_json(command("sql", "-d", ranks, "--step_id", "7", query, "--json"))
    assert answer["rows"] == [{"rank_id": 0, "name": "mm_kernel"}, {"rank_id": 1, "name": "mm_kernel"}]
    answer = only_json(command("sql", "-d", ranks, "--step_id", "8", "--rank_list", "1", query, "--json"))
    assert answer["rows"] == [{"rank_id": 1, "name": "add_kernel"}, {"rank_id": 1, "name": "copy_kernel"}]
    answer = only_json(command("module-stats", "-d", ranks, "--step_id", "8", "--rank_list", "0", "--json"))
    (net,) = answer["summary"]["heaviest_modules"]
    assert (net["module"], net["calls"], net["own_kernel_duration_ns"], net["computing_share"]) == ("Net", 0, 1000, 1000 / 7000)
    assert net["computing_per_step_ns"] == 1000


@pytest.mark.slow
def test_nesting_tolerance_takes_in_an_op_that_ends_a_little_late(tmp_path: Path, command: Command) -> None:
    write_profile(tmp_path / "a_ascend_pt", [Op("late", 110, 205, (Kernel("k", 1000, 1010),))], RANGES[:1])
    answer = only_json(command("module-stats", "-d", tmp_path, "--json"))
    assert answer["summary"]["rows"] == 0
    answer = only_json(command("module-stats", "-d", tmp_path, "--nesting_tolerance_ns", "5", "--json"))
    assert [(one["module"], one["own_kernel_duration_ns"]) for one in answer["summary"]["heaviest_modules"]] == [("Net", 10)]


@pytest.fixture
def layers(tmp_path: Path) -> Path:
    """Net runs Layer twice, 1 and 2 us; the domain Custom marks only the second; the Python tracer saw only Net, as MyNet."""
    write_profile(
        tmp_path / "layers" / "a_ascend_pt",
        [Op("aten::mm", 110, 120), Op("aten::mm", 140, 150)],
        [
            Range("Net", 100, 200),
            Range("Layer", 105, 125),
            Range("Layer", 135, 155),
            Range("Attention", 138, 152, domain="Custom"),
        ],
        launches=[
            Launch(112, 114, (Kernel("k1", 1000, 2000),), recorded_op=0),
            Launch(142, 144, (Kernel("k2", 2000, 4000),), recorded_op=1),
        ],
        frames=[Frame("nn.Module: MyNet_0", 100, 200)],
    )
    return tmp_path / "layers"


# The words -> each module with its own kernel time in us, the heaviest first.
CHOICES = {
    "nothing chosen": ([], {"Net/Layer": 3}),
    "module_source auto": (["--module_source", "auto"], {"Net/Layer": 3}),
    "module_source mstx": (["--module_source", "mstx"], {"Net/Layer": 3}),
    "module_source nn.Module": (["--module_source", "nn.Module"], {"MyNet": 3}),
    "module_domain": (["--module_domain", "Custom"], {"Attention": 2}),
    "module_domain of two": (["--module_domain", "Module,Custom"], {"Net/Layer/Attention": 2, "Net/Layer": 1}),
    "by class": (["--by", "class"], {"Net/Layer": 3}),
    "by instance": (["--instances"], {"Net[0]/Layer[1]": 2, "Net[0]/Layer[0]": 1}),
    "depth": (["--depth", "1"], {"Net": 3}),
    "audit_links": (["--audit_links"], {"Net/Layer": 3}),
    "all": (["--module_source", "mstx", "--module_domain", "Module", "--instances", "--depth", "1"], {"Net[0]": 3}),
}


# What each choice means is tested with the API.
QUICK = ("module_source nn.Module", "module_domain of two", "by instance", "all")


@pytest.mark.parametrize(
    ("words", "modules"),
    [pytest.param(*one, id=name, marks=() if name in QUICK else pytest.mark.slow) for name, one in CHOICES.items()],
)
@pytest.mark.slow
def test_what_a_module_is_can_be_chosen(layers: Path, command: Command, words: list[str], modules: dict[str, int]) -> None:
    answer = only_json(command("module-stats", "-d", layers, *words, "--json"))
    found = {one["module"]: one["own_kernel_duration_ns"] for one in answer["summary"]["heaviest_modules"]}
    assert [(module, ns) for module, ns in found.items() if ns] == [(module, us * 1000) for module, us in modules.items()]


def test_sql_takes_the_same_words_with_hyphens_too(layers: Path, command: Command) -> None:
    words, modules = CHOICES["all"]
    query = """
        SELECT concat_ws('/', nullif(parent_module, ''), module) AS path, sum(duration_ns) AS ns
        FROM module.kernel
        WHERE module IS NOT NULL
        GROUP BY ALL
    """
    with_hyphens = [f"--{word[2:].replace('_', '-')}" if word.startswith("--") else word for word in words]
    rows = only_json(command("sql", "-d", layers, query, *with_hyphens, "--json"))["rows"]
    assert [(row["path"], row["ns"]) for row in rows] == [(module, us * 1000) for module, us in modules.items()]


@pytest.mark.parametrize(("words", "launches"), [([], 0), (["--audit-links"], 2)])
def test_an_audit_judges_every_launch(layers: Path, command: Command, words: list[str], launches: int) -> None:
    query = "SELECT count(op_id) AS judged FROM module.derived_link"
    assert only_json(command("sql", "-d", layers, query, *words, "--json"))["rows"] == [{"judged": launches}]


def test_a_domain_without_ranges_is_told_with_those_that_have_some(layers: Path, command: Command) -> None:
    result = command("module-stats", "-d", layers, "--module-domain", "custom")
    assert result.exit_code == 0
    assert result.stderr == says("warning", "--module-domain custom", "no rank", "Custom, Module", "Python tracer")
    assert command("module-stats", "-d", layers, "--module-domain", "Custom").stderr == ""


def test_a_path_needs_no_option(own_ranks: Path, command: Command) -> None:
    with_option = command("kernel-stats", "-d", own_ranks, "--json")
    assert command("kernel-stats", own_ranks, "--json").stdout == with_option.stdout
    result = command("kernel-stats")
    assert result.stderr == says("error", "-d: ", "give the folder", "-d ./result")


def test_several_paths_are_read_like_the_folder_that_holds_them(tmp_path: Path, command: Command) -> None:
    for run in ("monday", "tuesday"):
        for rank in range(3):
            write_profile(tmp_path / run / f"{rank}_ascend_pt", OPS, RANGES, rank=rank)
    monday, tuesday = tmp_path / "monday", tmp_path / "tuesday"
    two = [monday / "0_ascend_pt", monday / "2_ascend_pt"]

    def rows(*words: object) -> list[tuple[object, ...]]:
        found = only_json(command("ranks", *words, "--json"))["ranks"]
        return [(row.get("run"), row["profile"], row["rank_id"]) for row in found]

    assert rows(*two) == rows("-d", two[1], "-d", two[0]) == [(None, "0_ascend_pt", 0), (None, "2_ascend_pt", 2)]
    assert rows(*two, monday, two[0]) == [(None, f"monday/{rank}_ascend_pt", rank) for rank in range(3)], "each is read once"
    of_runs = rows(monday, tuesday)
    assert of_runs == rows(tmp_path) and {run for run, *_ in of_runs} == {"monday", "tuesday"}
    query = "SELECT count(*) AS kernels FROM trace.kernel"
    (whole,) = only_json(command("sql", monday, query, "--json"))["rows"]
    (part,) = only_json(command("sql", *two, query, "--json"))["rows"]
    assert part["kernels"] * 3 == whole["kernels"] * 2
    with open_profile(two) as profile:
        assert profile.question_line("advise") == f"prof-analysis advise {two[0]} {two[1]}"
        assert profile.query_line("FROM x") == f'prof-analysis sql -d {two[0]} -d {two[1]} "FROM x"'
    with open_profile(two, anonymize=True) as profile:
        assert "_ascend_pt" not in profile.question_line("advise")
    missing = command("ranks", two[0], tmp_path / "gone")
    assert (missing.exit_code, missing.stderr) == (2, says("error", f"{tmp_path / 'gone'}: there is no such folder or file"))


def test_a_source_of_modules_that_is_not_there_is_named(ranks: Path, command: Command) -> None:
    before = files_below(ranks)
    result = command("module-stats", "-d", ranks, "--module-source", "nn.Module")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "no module ranges" in result.stderr
    assert "collect with with_modules=True" in result.stderr
    assert files_below(ranks) == before
