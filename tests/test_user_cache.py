"""The folder that keeps results between runs: where it is, who may read it, and when there is none."""

import os
import stat
from pathlib import Path

import pytest

from prof_analysis.common.user_cache import VARIABLE, cache_folder


def test_it_lies_below_the_users_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cache_folder() == tmp_path / "cache" / "prof-analysis"


def test_only_its_user_may_read_it(tmp_path: Path) -> None:
    folder = cache_folder(tmp_path / "kept")
    assert folder is not None
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_variable_names_another_folder_or_turns_it_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "elsewhere"))
    assert cache_folder() == tmp_path / "elsewhere"
    assert cache_folder(tmp_path / "chosen") == tmp_path / "chosen"
    monkeypatch.setenv(VARIABLE, "off")
    assert cache_folder() is None


def test_there_is_none_where_it_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert cache_folder(tmp_path / "file") is None
    assert cache_folder(tmp_path / "file" / "below") is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_there_is_none_where_it_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    assert cache_folder(tmp_path / "closed") is None
