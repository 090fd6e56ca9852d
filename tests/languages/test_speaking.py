# ruff: noqa: RUF001 (the signs of Chinese look like those of English)
"""With --lang zh, or LANG=zh_CN.UTF-8, people read Chinese, and programs what they read before."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from prof_analysis import languages
from prof_analysis.analyses import ANALYSES
from prof_analysis.cli import app
from prof_analysis.cli.help import examples_of
from tests.helpers.cli import Command, write_ranks

COMMANDS = sorted(vars(get_command(app))["commands"])
CHINESE = re.compile(r"[\u4e00-\u9fff]")
# Code, paths, options, names with signs in them, and command lines.
CODE = re.compile(
    r"`[^`]*`|prof-analysis .*|\S*[/_=:*<>|][^\s，。；：（）]*|-{1,2}[A-Za-z][\w-]*|\w+\([^)]*\)?|npu_fx_compiler inference"
)
# Two words of English, one behind the other on a line. One alone may be a name, or a word that Chinese has too.
ENGLISH = re.compile(r"(?<![\w.-])[A-Za-z][a-z]+(?: [a-z]{2,})+(?![\w-])")
NAMES = re.compile(
    "(?:kernel|step|rank|host|device|batch|token|profiler|trace|profile|pass|stage|stream|tracer|micro|ns|us|ms|op|dp|head|mask|shape)s?"
)


def english_of(text: str) -> list[str]:
    """Return what is English in a text, and neither names nor code."""
    found = ENGLISH.findall(CODE.sub(" ", text))
    return [words for words in found if sum(not NAMES.fullmatch(word) for word in words.split()) > 1]


@pytest.fixture(autouse=True)
def _in_english() -> Iterator[None]:
    yield
    languages.choose(())


@pytest.mark.parametrize("name", [*ANALYSES, "ranks"])
def test_an_answer_has_no_english_but_names(name: str, command: Command, keeping: None, kept_sample: Path) -> None:  # noqa: ARG001
    shown = command(name, kept_sample, "--lang", "zh").output
    assert CHINESE.search(shown)
    assert not english_of(shown), shown
    assert not re.search(r"^\d+。", shown, re.MULTILINE), "what is numbered has its number with a full stop, as in English"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_has_no_english_but_names(name: str) -> None:
    languages.choose(("--lang", "zh"))
    of_command = vars(get_command(app))["commands"][name]
    texts = [*str(of_command.help).split("\n\n"), *(one.help for one in of_command.params if getattr(one, "help", None))]
    texts += [f"{purpose}:" for purpose in examples_of(name)]
    shown = {text: languages.said(" ".join(text.split())) for text in texts}
    assert not {text: one for text, one in shown.items() if english_of(one) or not CHINESE.search(one)}


def test_without_a_command_the_help_is_shown(command: Command) -> None:
    assert "从这里开始" in command("--lang", "zh").output


@pytest.mark.usefixtures("keeping")
def test_json_and_csv_are_the_same_in_each_language(command: Command, kept_sample: Path, tmp_path: Path) -> None:
    said = {}
    for lang in ("en", "zh"):
        said[lang] = json.loads(command("diagnose", kept_sample, "--json", "--lang", lang).stdout)
        command("module-stats", kept_sample, "--export-type", "csv", "-o", tmp_path / lang, "--lang", lang)
    assert said["en"] == said["zh"]
    files = {lang: sorted((tmp_path / lang).rglob("*.csv")) for lang in said}
    assert files["en"]
    for english, chinese in zip(files["en"], files["zh"], strict=True):
        assert english.read_bytes() == chinese.read_bytes()


def test_the_environment_chooses_the_language_and_the_option_has_the_last_word(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    languages._of_environment.cache_clear()
    try:
        assert "没有" in command("ranks", tmp_path).output
        assert "no profiling result" in command("ranks", tmp_path, "--lang", "en").output
    finally:
        languages._of_environment.cache_clear()


def test_another_language_is_an_error(command: Command, tmp_path: Path) -> None:
    result = command("ranks", tmp_path, "--lang", "fr")
    assert result.exit_code == 2
    assert "--lang" in result.output and "en, zh" in result.output


@pytest.mark.parametrize("heading", ["own", "自身"])
def test_a_column_is_chosen_by_its_heading_in_either_language(heading: str, command: Command, tmp_path: Path) -> None:
    profile = write_ranks(tmp_path)
    shown = command("module-stats", profile, "--columns", f"module,{heading}", "--lang", "zh", "--cache", "none").stdout
    assert shown.splitlines()[0].split() == ["模块", "自身"]


@pytest.mark.usefixtures("keeping")
def test_the_report_is_a_page_in_chinese(command: Command, kept_sample: Path, tmp_path: Path) -> None:
    command("report", kept_sample, "-o", tmp_path / "report.html", "--lang", "zh")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<html lang="zh">' in page
    assert "<h2>结论</h2>" in page or "<h2>要点</h2>" in page
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert json.loads(data)["figures"]["modules"]["layout"]["title"]["text"] == "各模块的计算时间"


def test_names_of_a_profile_stay_as_they_are(command: Command, tmp_path: Path) -> None:
    """A module, an op or a kernel may have the name of a word that the catalogue has."""
    from tests.helpers.small_profile import Kernel, Op, Range, write_profile

    kernels = (Kernel("wait", 1000, 4000),)
    write_profile(tmp_path / "memory_ascend_pt", (Op("copy", 110, 120, kernels),), (Range("communication", 100, 200),))
    shown = command("module-stats", tmp_path, "--lang", "zh", "--cache", "none").stdout
    assert "communication" in shown and "copy" in shown
