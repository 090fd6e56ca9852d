"""What DuckDB says about the project's SQL is kept between runs: nothing is parsed or planned twice."""

import json
import os
import shutil
import stat
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from prof_analysis.common.user_cache import VARIABLE
from tests.helpers.places import CHECKOUT
from tests.helpers.slow import quick

# Plans in a process of its own; with the word `closed`, DuckDB opens nothing there.
SCRIPT = """
import sys, duckdb
from prof_analysis.engine.planning import make_plan
from prof_analysis.engine.table_file import Column, Table
from prof_analysis.sources import SOURCES
if "closed" in sys.argv:
    duckdb.connect = None
mine = Table("mine.step", "", (Column("n", "BIGINT", ""),), "SELECT step_id AS n FROM trace.step")
own = (mine,) if "own" in sys.argv else ()
wanted = ["step.time", *(["trace.op"] if "more" in sys.argv else []), *(table.name for table in own)]
plan = make_plan("ascend_db", SOURCES["ascend_db"].RAW_COLUMNS, wanted, own)
print(plan.order, *(f"{name}: {sorted(columns)}" for name, columns in sorted(plan.columns.items())))
"""


# What a question about a rank alone asks, of which some tables compare ranks; then how many heads were read.
ALONE = """
import sys, duckdb
from prof_analysis.engine.planning import make_plan, split_across_ranks, variables_of
from prof_analysis.engine.table_file import _read_ours
from prof_analysis.sources import SOURCES
if "closed" in sys.argv:
    duckdb.connect = None
wanted = ("across.slow_rank_finding", "step.time")
of_ranks, _ = split_across_ranks(wanted, has_several_ranks=False)
make_plan("ascend_db", SOURCES["ascend_db"].RAW_COLUMNS, of_ranks)
print(*(sorted(variables_of(table, {"ascend_db"}, has_several_ranks=False)) for table in wanted))
print(_read_ours.cache_info().currsize)
"""


def planned(folder: Path, *words: str, package: Path = CHECKOUT, script: str = SCRIPT) -> str:
    environment = {**os.environ, VARIABLE: str(folder), "PYTHONPATH": str(package)}
    command = [sys.executable, "-c", script, *words]
    return subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, check=True).stdout


def file_in(folder: Path) -> Path:
    (file,) = folder.glob("plans-*")
    return file


def test_the_second_process_needs_no_duckdb(tmp_path: Path) -> None:
    first = planned(tmp_path)
    assert "trace.kernel" in first
    assert stat.S_IMODE(file_in(tmp_path).stat().st_mode) == 0o600
    assert planned(tmp_path, "closed") == first


def test_a_question_about_a_rank_alone_reads_only_the_heads_that_it_needs(tmp_path: Path) -> None:
    variables, _ = planned(tmp_path, script=ALONE).splitlines()
    again, heads = planned(tmp_path, "closed", script=ALONE).splitlines()
    assert again == variables
    assert "step_id" in variables
    assert int(heads) < 150, "of 650"


@pytest.mark.parametrize("is_of_this_code", [True, False])
def test_a_first_start_of_a_wheel_knows_the_plans_that_came_with_it(tmp_path: Path, is_of_this_code: bool) -> None:
    wheel = tmp_path / "wheel" / "prof_analysis"
    shutil.copytree(CHECKOUT / "prof_analysis", wheel, ignore=shutil.ignore_patterns("__pycache__"))
    (wheel / "sql").symlink_to(CHECKOUT / "sql")
    first = planned(tmp_path / "cache")
    text = file_in(tmp_path / "cache").read_text(encoding="utf-8").partition("\n")[2]
    text = text if is_of_this_code else text.replace(json.loads(text)["code"], "0" * 64)
    (wheel / "plans.json").write_text(f"{sha256(text.encode()).hexdigest()}\n{text}", encoding="utf-8")
    if is_of_this_code:
        assert planned(Path("off"), "closed", package=wheel.parent) == first
    else:
        with pytest.raises(subprocess.CalledProcessError):
            planned(Path("off"), "closed", package=wheel.parent)


@pytest.mark.parametrize("damage", quick(["cut", "changed", "foreign"], 1))
def test_a_damaged_file_is_ignored_and_made_anew(tmp_path: Path, damage: str) -> None:
    first = planned(tmp_path)
    file = file_in(tmp_path)
    whole = file.read_bytes()
    damaged = {"cut": whole[:-9], "changed": whole.replace(b'"trace.', b'"trade.'), "foreign": b"[1]\n{}"}
    file.write_bytes(damaged[damage])
    assert planned(tmp_path) == first
    assert file.read_bytes() == whole


@pytest.mark.slow
def test_what_another_question_found_out_is_added(tmp_path: Path) -> None:
    planned(tmp_path)
    before = file_in(tmp_path).stat().st_size
    planned(tmp_path, "more")
    assert file_in(tmp_path).stat().st_size > before
    assert planned(tmp_path, "more", "closed") != planned(tmp_path, "closed")


def test_nothing_of_own_tables_is_kept(tmp_path: Path) -> None:
    planned(tmp_path, "own")
    text = file_in(tmp_path).read_text(encoding="utf-8")
    body = "SELECT step_id AS n FROM trace.step"
    assert not [sql for sql in (body, f'SELECT "n" FROM ({body})') if sha256(sql.encode()).hexdigest()[:32] in text]


@pytest.mark.slow
def test_files_of_other_versions_do_not_add_up(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"plans-{number}.json").touch()
    planned(tmp_path)
    assert len(list(tmp_path.glob("plans-*"))) == 4
    planned(tmp_path, "closed")


@pytest.mark.slow
def test_without_a_cache_all_is_the_same(tmp_path: Path) -> None:
    first = planned(tmp_path)
    (tmp_path / "file").touch()
    assert planned(tmp_path / "file") == planned(Path("off")) == first
