"""The help: groups, a question in one line for each command, examples that run, one spelling of options."""

import gzip
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from prof_analysis.analyses import ANALYSES
from prof_analysis.cli import app
from prof_analysis.cli import help as cli_help
from prof_analysis.cli.help import examples_of
from prof_analysis.common.user_cache import VARIABLE
from tests.helpers.cli import Command
from tests.helpers.layers import BEGIN, DENSE, END
from tests.helpers.places import CHECKOUT, SAMPLE
from tests.helpers.small_profile import Frame, Kernel, Op, write_profile


def commands_below(group: Any, *words: str) -> Iterator[tuple[str, Any]]:
    """The words of every command of the app, and the command."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_below(command, *words, name)
        else:
            yield " ".join((*words, name)), command


COMMANDS = dict(commands_below(typer.main.get_command(app)))
WITH_MODULES = {
    "op-stats",
    "module-stats",
    "communication-time",
    "mfu",
    "pmu-stats",
    "memory",
    "stacks",
    "pipeline",
    "experts",
    "advise",
    "diagnose",
}
READ, COMPARE, ANSWER, MODULES, SHOW, WRITE, MACHINE = GROUPS = (
    "What to read", "How to compare runs", "What to answer", "What counts as a module", "How to show it", "What to write",
    "Machine and cache",
)  # fmt: skip
GROUPS_OF = {
    "sql": {READ, ANSWER, MODULES, SHOW},
    "stage-durations": {SHOW, WRITE},
    "compare": {READ, COMPARE, MODULES, SHOW, WRITE},
    "ranks": {READ, SHOW},
    "report": {READ, MODULES, SHOW, WRITE},
    "timeline": {READ, ANSWER, MODULES, SHOW, WRITE},
    "table": {READ, MODULES, SHOW, WRITE},
    "tables": {READ, SHOW},
    "test": {READ, SHOW},
    "verify": {READ, ANSWER, SHOW},
    "collect": {SHOW},
    "cache ls": {SHOW, MACHINE},
    "cache clear": {SHOW, MACHINE},
}


def test_the_help_groups_the_commands_with_one_line_each(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for words in (["--help"], ["-h"], []):
        shown = command(*words).stdout
        groups = {group.split(" ─", 1)[0]: group for group in shown.split("╭─ ")[1:]}
        assert list(groups) == [
            "Options",
            "Begin here",
            "Where the time goes",
            "Why it takes so long",
            "What changed",
            "Look up",
            "Keep",
        ]
        lines = [line for name, group in groups.items() if name != "Options" for line in group.splitlines() if line[:1] == "│"]
        assert sorted(line.split()[1] for line in lines) == sorted({name.partition(" ")[0] for name in COMMANDS})
        for part in ("--version", "--install-completion", "Exit codes", "130"):
            assert part in shown


def test_help_all_shows_the_options_that_few_people_need(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(cli_help, "_shown_all", [])
    rare = ("--memory-limit", "--nesting-tolerance-ns", "--debug")
    usual, everything = (command("module-stats", words).stdout for words in ("--help", "--help-all"))
    assert [(option in usual, option in everything) for option in rare] == [(False, True)] * 3


def test_the_readme_names_no_other_commands() -> None:
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`prof-analysis ([a-z][a-z-]+)", readme)) <= {name.partition(" ")[0] for name in COMMANDS}


def test_every_analysis_has_a_command() -> None:
    assert COMMANDS.keys() == ANALYSES.keys() | GROUPS_OF.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_has_groups_and_examples(command: Command, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = command(*name.split(), "--help")
    assert result.exit_code == 0
    usual = {READ, SHOW, WRITE} | ({MODULES} if name in WITH_MODULES else set())
    shown = [group for group in re.findall("╭─ (.+?) ─", result.stdout) if group not in ("Arguments", ANSWER)]
    expected = GROUPS_OF.get(name, usual) - {ANSWER}
    assert shown == [group for group in GROUPS if group in expected], "each group once, in this order"
    assert all(parameter.help for parameter in COMMANDS[name].params), "every option says what it does"
    assert not re.search("<(?:bool|int|str|path|list)", result.stdout), "no types of Python"
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    examples = examples_of(name)
    assert name.startswith("cache") or 2 <= len(examples) <= 4
    monkeypatch.setattr(cli_help, "_shown_all", [True])
    text, whole = (re.sub(" +\n", "\n", one) for one in (result.stdout, command(*name.split(), "--help").stdout))
    for number, (purpose, line) in enumerate(examples.items()):
        assert (f"  {purpose}:\n" in text) is (number < 2), "the first two, before the options"
        assert f"   {purpose}:\n" in whole, "no line is broken"
        for part in line.split("\n"):
            assert f"     {part.strip()}" in whole
        assert set(re.findall(r"(?<= )--?[a-z-]+", line)) <= options, "spelled as the help spells it"
    assert len(text.splitlines()) <= {"compare": 72, "stacks": 63, "op-stats": 59}.get(name, 58), "it fits on a screen"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, kept_sample: Path) -> Path:
    """The sample as `result`, profiles for what the sample cannot answer, a log, and a cache that the examples share."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "result").symlink_to(kept_sample)
    types = (BEGIN + DENSE * 6 + END) * 3
    kernels = [Kernel(f"k{n}", n * 10, n * 10 + 5, type=type_) for n, type_ in enumerate(types, 1)]
    write_profile(folder / "layer-stats" / "a_ascend_pt", unlinked=kernels)
    frames = [Frame("main.py(3): train", 0, 1000), Frame("torch/nn/modules/linear.py(114): forward", 100, 900)]
    write_profile(folder / "stacks" / "a_ascend_pt", [Op("aten::mm", 200, 300, (Kernel("k", 400, 500),))], frames=frames)
    grouped = Kernel("gmm", 400, 500, type="GroupedMatmul", inputs="64,8;4,8,16", outputs="64,16")
    write_profile(folder / "experts" / "a_ascend_pt", [Op("npu::npu_grouped_matmul", 200, 300, (grouped,))])
    graph = [Op("npu_fx_compiler inference", 300, 900), Op("ExecuteGraph", 600, 860)]
    write_profile(folder / "graph-overhead" / "a_ascend_pt", graph)
    log = b"Profile execute duration [Decode]: [forward]:1.23ms\n"
    (folder / "server.log").write_bytes(log)
    (folder / "server.log.1.gz").write_bytes(gzip.compress(log))
    for run in ("monday", "tuesday", "wednesday"):
        copytree(SAMPLE / "decoder_training", folder / run)
    (folder / "names.csv").write_text("base,new\nDecoderLayer,Layer\n", "utf-8")
    (folder / "query.sql").write_text("SELECT rank_id, count(*) AS ops FROM trace.op GROUP BY ALL ORDER BY rank_id;\n", "utf-8")
    own = folder / "own" / "ours"
    own.mkdir(parents=True)
    (own / "one.sql").write_text("-- One row is a number.\n--\n-- n  INTEGER  one\nSELECT 1 AS n\n", "utf-8")
    (own / "one.cases.md").write_text("## It is one\n\nours.one\n\n| n |\n|---|\n| 1 |\n", "utf-8")
    return folder


# One example of each kind; of the others the quick suite reads the options.
QUICK = {
    "module-stats: Look inside one module", "table: All rows in a file",
    "sql: A query in a file, rows as csv", "stage-durations: From stdin", "test: The cases of all tables in a folder",
    "cache ls: Kept entries, and their size", "cache clear: Remove all that is kept", "tables: One table with its columns",
    "ranks: The same for a script", "collect: The file, to take to a training image",
}  # fmt: skip
EXAMPLES = [
    pytest.param(name, line, id=example, marks=() if example in QUICK else pytest.mark.slow)
    for name in COMMANDS
    for purpose, line in examples_of(name).items()
    for example in [f"{name}: {purpose}"]
]


def test_the_examples_of_the_help_have_options_that_are_known(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data)
    assert {f"{name}: {purpose}" for name in COMMANDS for purpose in examples_of(name)} >= QUICK
    for name, parser in COMMANDS.items():
        for line in examples_of(name).values():
            words = shlex.split(line)[1 + len(name.split()) :]
            words = words[:-2] if words[-2:-1] in (["<"], [">"]) else words
            with parser.make_context(name, words) as context:
                assert context.params, line


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_the_examples_of_the_help_run(
    name: str, line: str, data: Path, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "kept" if name.startswith("cache") else kept))
    for file in data.iterdir():
        (tmp_path / file.name).symlink_to(file)
    if (data / name).is_dir():
        (tmp_path / "result").unlink()
        (tmp_path / "result").symlink_to(data / name)
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(line)
    assert program == "prof-analysis"
    given = Path(words[-1]).read_bytes() if words[-2:-1] == ["<"] else None
    to_run = words[:-2] if words[-2:-1] in (["<"], [">"]) else words  # What the shell does.
    result = CliRunner().invoke(app, to_run, input=given)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout or name.startswith("cache")
    assert "-o out" not in line or list((tmp_path / "out").rglob("*.json.gz" if name == "timeline" else "*.csv"))
