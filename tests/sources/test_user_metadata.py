"""What a user adds with add_metadata() is shown as text, also where it is meant to do harm, and with --anonymize not at all."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from prof_analysis import open_profile
from prof_analysis.pictures.report.profile import made_of
from prof_analysis.sources.discovery import find_ranks
from tests.helpers.small_profile import Kernel, Op, edit, write_profile

OPS = [Op("aten::mm", 0, 10)]
OWN = {"parallel_group_info": {}, "distributed_args": {"rank": 0}, "ENV_VARIABLES": {"TOKEN": "hidden"}, "trace_id": "7f"}
ADDED = {"lr": 0.001, "model": "llama", "=cmd()": {"a": [1, None]}, "escape": "\x1b[31m", "lone": "\ud800"}
SHOWN = ("lr: 0.001", "model: llama", '=cmd(): {"a": [1, null]}', "escape: \x1b[31m", "lone: ?")


def test_keys_of_the_user_are_texts_and_those_of_the_profiler_are_not_shown(tmp_path: Path) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS).parents[1]
    (folder / "profiler_metadata.json").write_text(json.dumps({**OWN, **ADDED}), encoding="utf-8")
    (rank,) = find_ranks(tmp_path)
    assert rank.metadata == SHOWN
    many = {f"k{number}": "x" * 300 for number in range(52)}
    (folder / "profiler_metadata.json").write_text(json.dumps(many), encoding="utf-8")
    (rank,) = find_ranks(tmp_path)
    assert (rank.metadata[0], rank.metadata[-1], len(rank.metadata)) == (f"k0: {'x' * 200}... (100 more)", "2 more keys", 51)


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"a": '])
def test_metadata_that_cannot_be_read_cost_no_answer(tmp_path: Path, broken: str) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS).parents[1]
    (folder / "profiler_metadata.json").write_text(broken, encoding="utf-8")
    (rank,) = find_ranks(tmp_path)
    assert (rank.metadata, rank.left_out) == ((), None)
    assert "profiler_metadata.json" in rank.unread[0]


def test_a_database_has_them_too(tmp_path: Path) -> None:
    path = write_profile(tmp_path / "a_ascend_pt", OPS)
    rows = {
        **{name: json.dumps(value) for name, value in {**OWN, **ADDED}.items() if name != "lone"},
        "SCHEMA_VERSION": "1.2.0",
    }
    edit(path, "CREATE TABLE IF NOT EXISTS META_DATA (name TEXT, value TEXT)")
    for name, value in rows.items():
        quoted = ", ".join("'" + text.replace("'", "''") + "'" for text in (name, value))
        edit(path, f"INSERT INTO META_DATA VALUES ({quoted})")
    (rank,) = find_ranks(path)
    assert rank.metadata == SHOWN[:-1]


def test_ranks_and_the_report_show_them_and_anonymous_ones_do_not(tmp_path: Path, command: Callable[..., Result]) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS, unlinked=[Kernel("a", 2, 5)]).parents[1]
    (folder / "profiler_metadata.json").write_text(json.dumps({**ADDED, "owner": "alice<script>"}), encoding="utf-8")
    shown = command("ranks", "-d", tmp_path).stdout
    assert "metadata that was added: lr: 0.001; model: llama" in shown
    assert "\x1b" not in shown
    page = tmp_path / "report.html"
    command("report", "-d", tmp_path, "-o", page)
    text = page.read_text(encoding="utf-8")
    assert "alice&lt;script&gt;" in text
    assert "alice<script>" not in text
    for anonymous in (False, True):  # The section of the page that has them; the others take three seconds.
        with open_profile(tmp_path, anonymize=anonymous) as profile:
            section = str(made_of(profile, profile.rank_rows()))
        assert ("alice<script>" in section and "llama" in section) is not anonymous
        assert ("alice" in section or "llama" in section) is not anonymous
    assert "llama" not in command("ranks", "-d", tmp_path, "--anonymize").stdout
