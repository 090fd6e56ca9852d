"""Memory that was planned for compiled graphs: static_op_mem.csv, alone, beside exports, beside a database, and damaged."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from prof_analysis import open_profile
from prof_analysis.sources.discovery import find_ranks
from tests.helpers.small_profile import Kernel, Op, write_profile

STATIC = """Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)
0,Default/Add-op1,0,1,1,4,1024
0,=cmd()\x1b[31m,0,1,2,3,2048
0,Default/Softmax-op3,0,1,4,4294967295,512.5
0,TOTAL,0,1,0,4294967295,5000
"""
GRAPH = {"graph_id": 1, "op_count": 3, "peak_bytes": 3 * 2**20, "peak_node": 2, "reported_bytes": 5000 * 1024}


@pytest.mark.usefixtures("keeping")
@pytest.mark.parametrize("name", ["static_op_mem.csv", "static_op_mem_20260101000000.csv"])
def test_it_answers_alone(tmp_path: Path, name: str, command: Callable[..., Result]) -> None:
    file = tmp_path / "a_ascend_ms" / "ASCEND_PROFILER_OUTPUT" / name
    file.parent.mkdir(parents=True)
    file.write_text(STATIC, encoding="utf-8")
    for path in (tmp_path, file):
        with open_profile(path) as profile:
            (graph,) = profile.rows(f"SELECT {', '.join(GRAPH)} FROM allocation.static_graph")
            assert graph == GRAPH
    shown = command("memory", "-d", tmp_path)
    assert shown.exit_code == 0
    assert "graph 1: 3.00 MiB were planned at most, at node 2, for 3 ops; the profiler reported 4.88 MiB" in shown.stdout
    listed = command("memory", "-d", tmp_path, "--by", "static")
    assert "=cmd()\\x1b[31m" in listed.stdout, "a name controls no terminal"
    assert "\x1b" not in listed.stdout


def test_slices_add_up_and_two_tables_do_not(tmp_path: Path) -> None:
    head, *rows = STATIC.splitlines()
    output = tmp_path / "PROF_1" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    for number in (0, 1):
        text = "\n".join([head, *rows[2 * number : 2 * number + 2], ""])
        (output / f"static_op_mem_slice_{number}_20260101000000.csv").write_text(text, encoding="utf-8")
    with open_profile(tmp_path) as profile:
        (graph,) = profile.rows(f"SELECT {', '.join(GRAPH)} FROM allocation.static_graph")
        assert graph == GRAPH
    for number in (0, 1):
        (tmp_path / "two").mkdir(exist_ok=True)
        (tmp_path / "two" / f"static_op_mem_{number}.csv").write_text(STATIC, encoding="utf-8")
    (rank,) = find_ranks(tmp_path / "two")
    assert rank.left_out is not None
    assert "2 tables of memory of graphs, which are not added up" in rank.left_out


def test_it_counts_beside_a_database(tmp_path: Path) -> None:
    path = write_profile(tmp_path / "a_ascend_pt", [Op("aten::mm", 0, 10)], unlinked=[Kernel("a", 2, 5)])
    (path.parent / "static_op_mem.csv").write_text(STATIC, encoding="utf-8")
    with open_profile(tmp_path) as profile:
        assert profile.ranks(arrow=True).to_pylist()[0]["source"] == "ascend_db"
        profile.prepare("memory")
        (graph,) = profile.rows(f"SELECT {', '.join(GRAPH)} FROM allocation.static_graph")
    assert graph == GRAPH


def test_what_was_planned_is_no_part_of_what_was_held_at_a_moment(tmp_path: Path, command: Callable[..., Result]) -> None:
    """It has no time, so the sentence about the peak does not name it."""
    (tmp_path / "static_op_mem.csv").write_text(STATIC, encoding="utf-8")
    head = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Device Type"
    rows = ["PTA,1723000000000000.120,8,16,8,NPU:0", "APP,1723000000000000.120,,32,,NPU:0"]
    (tmp_path / "memory_record.csv").write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    shown = command("memory", "-d", tmp_path).stdout
    assert "the process held 16.00 MiB beside the memory that the framework reserved\n" in shown
    assert "graph 1: 3.00 MiB were planned at most" in shown


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", STATIC[:40], STATIC.splitlines()[0] + "\n"])
def test_a_damaged_one_is_an_error_that_names_it(tmp_path: Path, text: str, command: Callable[..., Result]) -> None:
    file = tmp_path / "static_op_mem.csv"
    file.write_text(text, encoding="utf-8")
    result = command("memory", "-d", tmp_path)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert len(result.stderr.splitlines()) <= 2


def test_one_that_is_cut_off_answers_with_what_is_whole(tmp_path: Path) -> None:
    (tmp_path / "static_op_mem.csv").write_text(STATIC[: STATIC.index("4294967295,512")], encoding="utf-8")
    with open_profile(tmp_path) as profile:
        (graph,) = profile.rows("SELECT op_count FROM allocation.static_graph")
    assert graph == {"op_count": 2}
