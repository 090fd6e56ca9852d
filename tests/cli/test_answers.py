"""The command as a user or a script meets it: what stands on the screen and in JSON, and what is written."""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from typer.testing import Result

from prof_analysis.common.version import SCHEMA_VERSION
from tests.helpers.cli import OPS, RANGES, Command, break_database, files_below, only_json
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, write_profile


def words_on(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def test_the_summary_names_the_heaviest_modules_and_where_all_kernel_time_went(own_ranks: Path, command: Command) -> None:
    result = command("module-stats", "-d", own_ranks, "--export_type", "db")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert [words_on(line) for line in result.stdout.splitlines() if line.strip()] == [
        ["module", "compute", "share of compute", "own", "per step and rank", "calls"],
        ["Net", "8.00 us", "40.0%", "2.00 us", "2.00 us", "2"],
        ["Layer", "6.00 us", "30.0%", "6.00 us", "1.50 us", "2"],
        ["op", "kernel type", "kernel time", "in module", "share of kind", "kernels", "kind"],
        ["aten::mm", "Mul", "6.00 us", "Net/Layer", "30.0%", "2", "compute"],
        ["aten::add", "Mul", "2.00 us", "Net", "10.0%", "2", "compute"],
        ["kind", "kernel time", "inside modules", "outside modules", "linked to no op"],
        ["compute", "20.00 us", "40.0%", "60.0%", "0.0%"],
        [f"wrote {own_ranks / 'cluster_analysis_output' / 'cluster_analysis.db'}"],
    ]


def test_the_summary_shows_as_many_modules_as_top_says(ranks: Path, command: Command) -> None:
    result = command("module-stats", "-d", ranks, "--rank_list", "1", "--top", "1")
    _, net, layer, after, *_ = result.stdout.splitlines()
    # The module around the heaviest one is there with its own figures.
    assert [words_on(net)[:3], words_on(layer)[:3], after] == [["Net", "4.00 us", "40.0%"], ["Layer", "3.00 us", "30.0%"], ""]
    assert layer.startswith("  Layer")
    answer = only_json(command("module-stats", "-d", ranks, "--rank_list", "1", "--top", "1", "--json"))
    assert [module["module"] for module in answer["summary"]["heaviest_modules"]] == ["Net/Layer"]


def test_json_says_all_that_the_screen_says(ranks: Path, command: Command) -> None:
    result = command("module-stats", "-d", ranks, "--json")
    assert result.exit_code == 0
    assert only_json(result) == {
        "schema_version": SCHEMA_VERSION,
        "command": "module-stats",
        "status": "done",
        "files": [],
        "summary": {
            "ranks": 2,
            "rows": 4,
            "heaviest_modules": [
                {
                    "module": module,
                    "calls": 2,
                    "own_kernel_duration_ns": own_ns,
                    "own_computing_ns": own_ns,
                    "computing_ns": computing_ns,
                    "communication_ns": 0,
                    "computing_share": computing_ns / 20000,
                    "computing_per_step_ns": computing_ns / 4,  # Two ranks have two steps each.
                }
                for module, own_ns, computing_ns in (("Net/Layer", 6000, 6000), ("Net", 2000, 8000))
            ],
            "heaviest_costs": [
                {
                    "module": module,
                    "op_name": op,
                    "kind": "compute",
                    "type": "Mul",
                    "kernel_count": 2,
                    "duration_ns": time_ns,
                    "share": time_ns / 20000,
                }
                for module, op, time_ns in (("Net/Layer", "aten::mm", 6000), ("Net", "aten::add", 2000))
            ],
            "coverage": [
                {"kind": "compute", "location": location, "kernel_count": count, "kernel_duration_ns": time, "share": share}
                for location, count, time, share in [
                    ("inside modules", 4, 8000, 0.4),
                    ("outside modules", 2, 12000, 0.6),
                    ("linked to no op", 0, 0, 0.0),
                ]
            ],
        },
        "warnings": [],
        "failures": [],
    }


def test_a_module_is_shown_with_what_is_inside_it(ranks: Path, command: Command) -> None:
    result = command("module-stats", "-d", ranks, "--module", "Layer", "--columns", "module,own,op,in module")
    assert [words_on(line) for line in result.stdout.splitlines() if line.strip()][:5] == [
        ["module", "own"],
        ["Net", "2.00 us"],
        ["Layer", "6.00 us"],
        ["op", "in module"],
        ["aten::mm", "Net/Layer"],
    ]
    result = command("module-stats", "-d", ranks, "--module", "Lay")
    assert result.exit_code == 2
    assert result.stderr == says("error", "no module Lay", "without --module", "module-stats")


def test_a_column_that_is_not_there_is_named_with_those_that_are(ranks: Path, command: Command) -> None:
    result = command("sql", "-d", ranks, "SELECT 1 AS a, 2 AS b", "--columns", "b")
    assert result.stdout.split() == ["b", "2"]
    result = command("sql", "-d", ranks, "SELECT 1 AS a, 2 AS b", "--columns", "a,c")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == says("error", "--columns", "no column c", "a, b")


def test_looking_writes_nothing_and_an_export_without_o_lies_in_the_input_folder(own_ranks: Path, command: Command) -> None:
    before = files_below(own_ranks)
    assert command("module-stats", "-d", own_ranks).exit_code == 0
    assert command("table", "trace.step", "-d", own_ranks).exit_code == 0
    assert command("sql", "-d", own_ranks, "SELECT count(*) FROM trace.op").exit_code == 0
    assert command("ranks", "-d", own_ranks).exit_code == 0
    assert files_below(own_ranks) == before, "looking writes nothing"
    answer = only_json(command("module-stats", "-d", own_ranks, "--export_type", "db", "--json"))
    assert answer["files"] == [str(own_ranks / "cluster_analysis_output" / "cluster_analysis.db")]
    after = files_below(own_ranks)
    assert after.keys() - before.keys() == {"cluster_analysis_output", "cluster_analysis_output/cluster_analysis.db"}
    assert {name: after[name] for name in before} == before


def test_with_o_nothing_is_written_to_the_input_folder(own_ranks: Path, tmp_path: Path, command: Command) -> None:
    before = files_below(own_ranks)
    result = command(
        "module-stats", "-d", own_ranks, "--rank_list", "1", "-o", tmp_path / "new" / "place", "--export_type", "csv"
    )
    assert result.exit_code == 0
    assert files_below(own_ranks) == before
    assert sorted(files_below(tmp_path / "new")) == [
        "place",
        "place/cluster_analysis_output",
        "place/cluster_analysis_output/module_coverage.csv",
        "place/cluster_analysis_output/module_statistic.csv",
        "place/cluster_analysis_output/module_tree.csv",
    ]


def test_a_broken_rank_is_named_with_its_file_and_the_good_one_is_written(own_ranks: Path, command: Command) -> None:
    broken = break_database(own_ranks / "0_ascend_pt")
    result = command("module-stats", "-d", own_ranks, "--export_type", "db")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"failed: {broken}: ")
    assert result.stderr.count("\n") == 1
    assert "Net/Layer" in result.stdout
    with closing(sqlite3.connect(own_ranks / "cluster_analysis_output" / "cluster_analysis.db")) as database:
        rows = database.execute('SELECT rankID, module, "totalKernelDuration(ns)" FROM ModuleStatistic').fetchall()
    assert rows == [(1, "Layer", 3000.0), (1, "Net", 1000.0)]


def test_a_broken_rank_is_told_in_json(own_ranks: Path, command: Command) -> None:
    broken = break_database(own_ranks / "0_ascend_pt")
    result = command("module-stats", "-d", own_ranks, "--json")
    assert result.exit_code == 1
    answer = only_json(result)
    assert answer.keys() == {"schema_version", "command", "status", "files", "summary", "warnings", "failures"}
    assert answer["status"] == "partial"
    assert answer["summary"]["ranks"] == 1
    assert [failure.partition(": ")[0] for failure in answer["failures"]] == [str(broken)]
    result = command("sql", "-d", own_ranks, "SELECT DISTINCT rank_id FROM trace.op", "--json")
    assert result.exit_code == 1
    answer = only_json(result)
    assert (answer["status"], answer["rows"], len(answer["failures"])) == ("partial", [{"rank_id": 1}], 1)


def test_a_rank_that_breaks_off_in_the_middle_does_not_stop_the_others(own_ranks: Path, command: Command) -> None:
    (database,) = (own_ranks / "0_ascend_pt").rglob("*.db")
    database.write_bytes(database.read_bytes()[: database.stat().st_size // 2])
    result = command("sql", "-d", own_ranks, "SELECT DISTINCT rank_id FROM module.kernel", "--json")
    assert result.exit_code == 1
    answer = only_json(result)
    assert answer["rows"] == [{"rank_id": 1}]
    assert [failure.partition(": ")[0] for failure in answer["failures"]] == [str(database)]


def test_replayed_graphs_are_told_with_the_remedy(tmp_path: Path, command: Command) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES, unlinked=[Kernel("k", 20000, 30000, model=3)])
    result = command("module-stats", "-d", tmp_path)
    assert result.exit_code == 0
    assert result.stderr == says("50.0% of the kernel time", "replayed from graphs", "before the engine captures")
    assert len(only_json(command("module-stats", "-d", tmp_path, "--json"))["warnings"]) == 1


def test_sql_answers_over_all_ranks(ranks: Path, command: Command) -> None:
    query = "SELECT rank_id, sum(duration_ns) AS ns, NULL AS nothing FROM module.kernel GROUP BY ALL ORDER BY ALL"
    result = command("sql", "-d", ranks, query)
    assert (result.exit_code, result.stderr) == (0, "")
    assert [words_on(line) for line in result.stdout.splitlines()] == [
        ["rank_id", "ns", "nothing"],
        ["0", "10000", "NULL"],
        ["1", "10000", "NULL"],
    ]
    assert only_json(command("sql", "-d", ranks, query, "--json")) == {
        "schema_version": SCHEMA_VERSION,
        "command": "sql",
        "status": "done",
        "rows": [{"rank_id": rank, "ns": 10000, "nothing": None} for rank in (0, 1)],
        "warnings": [],
        "failures": [],
    }


def test_json_is_json_also_with_nan(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    result = command("sql", "-d", tmp_path, "SELECT 'nan'::DOUBLE AS x, 'inf'::DOUBLE AS y", "--json")

    def refuse(word: str) -> None:
        raise AssertionError(word)

    json.loads(result.stdout, parse_constant=refuse)


def test_columns_of_equal_names_do_not_overwrite_each_other(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    result = command("sql", "-d", tmp_path, "SELECT 1 AS a, 2 AS a, 3 AS b")
    assert result.stdout.splitlines()[1].split() == ["1", "2", "3"]


def test_the_output_folder_of_a_given_output_is_beside_it(tmp_path: Path, command: Callable[..., Result]) -> None:
    output = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES).parent
    command("module-stats", "-d", output, "--export_type", "db")
    assert not (output / "cluster_analysis_output").exists()
