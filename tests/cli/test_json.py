"""What --json prints fits the schema that comes with the package: each command, each form, errors and several runs.

The fixture `command` holds against the schema whatever a test asks with --json; here are the forms that no other test asks for,
and what the schema itself must be.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.main import get_command

from docs import json_schema
from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis.analyses import ANALYSES
from prof_analysis.cli import app
from prof_analysis.common.user_cache import VARIABLE
from tests.helpers.cli import Command, only_json
from tests.helpers.json_schema import misfits
from tests.helpers.layers import BEGIN, DENSE, END
from tests.helpers.places import CHECKOUT, SAMPLE
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, write_profile

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
FOLDER = SAMPLE / "decoder_training"
# Command -> forms of its answer beside the usual one.
FORMS = {
    "module-stats": ("--by=rank", "--by=counter"),
    "kernel-stats": ("--by=name", "--by=shapes", "--by=cpu"),
    "slow-ranks": ("--by=collective",),
    "mfu": ("--by=op", "--by=kernel", "--by=rank"),
    "pmu-stats": ("--by=op", "--by=module", "--by=metric"),
    "memory": tuple(f"--by={row}" for row in ("module", "op", "block", "step", "time", "component", "kept", "rank")),
}
# What the sample cannot answer; profiles of tests below can.
NOT_IN_SAMPLE = {"stacks", "experts", "graph-overhead", "layer-stats"}


def commands(group: Any, before: tuple[str, ...] = ()) -> Iterator[str]:
    """The words of each command."""
    for name, command in group.commands.items():
        yield from commands(command, (*before, name)) if hasattr(command, "commands") else [" ".join((*before, name))]


def test_the_schema_is_a_json_schema() -> None:
    Draft202012Validator.check_schema(json.loads(json_schema.text_of_file()))


def test_the_wheel_is_made_with_what_its_build_installs() -> None:
    """A build of the wheel makes the schema and the plans, and installs what pyproject.toml names for that."""
    # What plans of other commands need is imported for one as well.
    one = "docs.plans.ANALYSES = {name: docs.plans.ANALYSES[name] for name in ['module-stats', 'free-time']}"
    made = f"import sys, docs.plans, docs.json_schema as made; made.schema(); {one}; docs.plans.text_of_file()"
    code = f"{made}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    words = [sys.executable, "-S", "-c", f"import sys; sys.path += {sys.path!r}; {code}"]
    loaded = subprocess.run(
        words, env={**ENVIRONMENT, VARIABLE: "off"}, capture_output=True, text=True, check=True
    ).stdout.split()
    dependencies = {
        "adbc_driver_sqlite",
        "duckdb",
        "loky",
        "numpy",
        "openpyxl",
        "pandas",
        "platformdirs",
        "pyarrow",
        "rich",
        "typer",
    }
    build = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    installed = {re.split("[>=]", name)[0].replace("-", "_") for name in build["hooks"]["custom"]["dependencies"]}
    assert dependencies & {*loaded} == installed


def test_every_command_has_a_schema() -> None:
    documented = json_schema.schema()["else"]["properties"]["command"]["enum"]
    assert sorted(documented) == sorted(commands(get_command(app))), "say in docs/json_schema/ what it prints"


@pytest.mark.parametrize("analysis", sorted(ANALYSES.keys() - NOT_IN_SAMPLE))
@pytest.mark.usefixtures("keeping")
def test_an_answer_has_the_documented_keys(analysis: str, kept_sample: Path, command: Command) -> None:
    answer = only_json(command(analysis, kept_sample, "--rank-list", "0", "--json", "--top", "3"))
    assert (answer["command"], answer["status"]) == (analysis, "done")


@pytest.mark.slow
@pytest.mark.parametrize(("analysis", "form"), [(analysis, form) for analysis, forms in FORMS.items() for form in forms])
def test_each_form_of_an_answer_has_the_documented_keys(analysis: str, form: str, command: Command) -> None:
    assert only_json(command(analysis, FOLDER, form, "--json"))["status"] == "done"


@pytest.fixture(scope="module")
def with_stacks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("with_stacks")
    generate(folder, Shape(steps=1, layers=1, stacks="functions", experts=2, memory=True), ranks=1, seed=1)
    return folder


@pytest.mark.parametrize(
    "words", quick(["stacks", "stacks --by=stack", "experts", "module-stats --by source-line", "op-stats --by source-line"], 3)
)
def test_answers_from_stacks_have_the_documented_keys(words: str, with_stacks: Path, command: Command) -> None:
    assert only_json(command(*words.split(), with_stacks, "--json"))["status"] == "done"


def test_phases_of_graphs_have_the_documented_keys(tmp_path: Path, command: Command) -> None:
    ops = [
        Op("TorchDynamo Cache Lookup", 10, 20),
        Op("npu_fx_compiler inference", 30, 900),
        Op("TorchNpuGraphBase::Run", 500, 880),
        Op("ExecuteGraph", 600, 860, (Kernel("k", 1000, 2000),)),
    ]
    write_profile(tmp_path / "a_ascend_pt", ops)
    assert len(only_json(command("graph-overhead", tmp_path, "--json"))["summary"]["phases"]) > 2


def test_layers_have_the_documented_keys(tmp_path: Path, command: Command) -> None:
    types = [*BEGIN, *DENSE * 4, *END]
    kernels = [Kernel(type_, 12 * number, 12 * number + 10, type=type_) for number, type_ in enumerate(types, 1)]
    write_profile(tmp_path / "a_ascend_pt", unlinked=kernels)
    assert only_json(command("layer-stats", tmp_path, "--json"))["summary"]["structures"][0]["layer_count"] == 4


@pytest.mark.slow
def test_answers_of_text_have_the_documented_keys(tmp_path: Path, command: Command) -> None:
    generate(tmp_path, Shape(steps=1, layers=1), ranks=1, seed=1, style=TextStyle(exports="text"))
    assert only_json(command("module-stats", tmp_path, "--json"))["status"] == "done"


@pytest.mark.parametrize("analysis", quick(["module-stats", "memory", "pmu-stats"], 0))
def test_answers_of_a_gpu_have_the_documented_keys(analysis: str, realdata: Path, command: Command) -> None:
    trace = realdata / "gpu_kineto" / "h100" / "gaunernst_bert-small-uncased__1016001.json.gz"
    assert only_json(command(analysis, trace, "--json"))["status"] == "done"


def dictionaries(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a value, with the value itself."""
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from dictionaries(one)


def test_a_key_that_is_not_documented_is_found_wherever_it_is(ranks: Path, command: Command) -> None:
    answer = only_json(command("module-stats", ranks, "--json"))
    objects = list(dictionaries(answer))
    assert len(objects) > 5
    for one in objects:
        one["undocumented"] = 1
        assert any("undocumented" in misfit for misfit in misfits(answer)), one
        del one["undocumented"]
    assert misfits(answer) == []


@pytest.mark.parametrize(
    ("key", "wrong"), [("schema_version", 2), ("command", "nope"), ("status", "fine"), ("summary", {}), ("message", "none")]
)
def test_a_wrong_value_is_found(key: str, wrong: Any, ranks: Path, command: Command) -> None:
    answer = only_json(command("kernel-stats", ranks, "--json"))
    assert misfits({**answer, key: wrong})


def test_runs_have_a_key_of_their_own(ranks: Path, command: Command, tmp_path: Path) -> None:
    shutil.copytree(ranks, tmp_path / "both" / "summary")
    shutil.copytree(ranks, tmp_path / "both" / "ranks")
    answer = only_json(command("kernel-stats", tmp_path / "both", "--json"))
    assert (sorted(answer["runs"]), "summary" in answer) == (["ranks", "summary"], False)
    assert answer["runs"]["summary"] == only_json(command("kernel-stats", ranks, "--json"))["summary"]


def test_the_values_of_sql_are_those_of_json(ranks: Path, command: Command) -> None:
    query = r"""
        SELECT
            1767225600000000001 AS moment, sum(9223372036854775807::HUGEINT) * 10 AS huge, 1.5 AS fraction, 2.0 AS whole,
            'nan'::DOUBLE AS nan, '\xaa'::BLOB AS bytes, DATE '2026-01-02' AS date, [1.5, NULL] AS list,
            {'a': [2.50]} AS struct, MAP {'key': 0.5} AS pairs, true AS yes
    """
    result = command("sql", "-d", ranks, query, "--json")
    assert '"moment": 1767225600000000001' in result.stdout
    assert only_json(result)["rows"] == [
        {
            "moment": 1767225600000000001, "huge": 92233720368547758070, "fraction": 1.5, "whole": 2, "nan": None,
            "bytes": "aa", "date": "2026-01-02", "list": [1.5, None], "struct": {"a": [2.5]}, "pairs": [["key", 0.5]],
            "yes": True,
        }
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["module.statistic", "across.coverage"])
def test_rows_of_a_table_have_the_columns_that_tables_documents(name: str, ranks: Path, command: Command) -> None:
    (documented,) = only_json(command("tables", name, "--json"))["tables"]
    in_front = ["profile", "rank_id"] if name == "module.statistic" else []
    (first, *_) = only_json(command("table", name, "-d", ranks, "--json"))["rows"]
    assert list(first) == [*in_front, *(column["name"] for column in documented["columns"])]


@pytest.mark.slow
def test_identifiers_stay_from_one_recording_to_the_next(tmp_path: Path, command: Command) -> None:
    answers = []
    for seed in (1, 2):
        generate(tmp_path / str(seed), Shape(steps=1), ranks=1, seed=seed)
        answers.append(only_json(command("module-stats", tmp_path / str(seed), "--json", "--top", "1000"))["summary"])
    kept = [
        {
            *((row["module"],) for row in answer["heaviest_modules"]),
            *((row["module"], row["op_name"], row["type"]) for row in answer["heaviest_costs"]),
        }
        for answer in answers
    ]
    assert len(kept[0]) > 20
    assert kept[0] == kept[1]
    found = [
        {
            finding["finding_id"]: tuple(finding[name] for name in ("rule", "title", "module", "op", "kernel_type"))
            for finding in only_json(command("advise", tmp_path / str(seed), "--json", "--top", "100"))["summary"]["findings"]
        }
        for seed in (1, 2)
    ]
    assert len(found[0]) > 2
    assert found[0] == found[1]
    times = [{row["own_kernel_duration_ns"] for row in answer["heaviest_modules"]} for answer in answers]
    assert times[0] != times[1], "the recordings differ"


@pytest.mark.slow
def test_the_same_question_gives_the_same_bytes(own_ranks: Path, command: Command) -> None:
    first, second = (command("module-stats", own_ranks, "--json", *words).stdout for words in ((), ("--workers", "1")))
    assert first == second


PAGE = (CHECKOUT / "docs" / "json.md").read_text(encoding="utf-8")


def test_the_page_has_the_keys_of_commands_without_a_summary() -> None:
    listed = dict(re.findall(r"(?m)^\| `([\w -]+)` \| ((?:`\w+`(?:, )?)+) \|$", PAGE))
    assert {command: re.findall(r"\w+", keys) for command, keys in listed.items()} == json_schema.keys_without_summary()


@pytest.fixture(scope="module")
def environment(kept: Path) -> dict[str, str]:
    """With a cache, as users have it: else each process of an example would plan and build anew."""
    return {**ENVIRONMENT, VARIABLE: str(kept)}


def block(language: str, number: int) -> str:
    return str(re.findall(rf"```{language}\n(.+?)```", PAGE, re.DOTALL)[number])


def like_the_wheel(folder: Path) -> Path:
    """A folder with the package as the wheel has it: with the schema."""
    (folder / "prof_analysis").mkdir(parents=True)
    for path in (CHECKOUT / "prof_analysis").iterdir():
        (folder / "prof_analysis" / path.name).symlink_to(path)
    (folder / "prof_analysis" / "sql").symlink_to(CHECKOUT / "sql")
    (folder / "prof_analysis" / "json.schema.json").write_text(json_schema.text_of_file(), encoding="utf-8")
    return folder


@pytest.mark.slow
def test_the_examples_in_python_do_what_the_page_says(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "result").symlink_to(FOLDER)
    with_schema = like_the_wheel(tmp_path / "wheel")
    ours = block("python", 0).replace('["prof-analysis", ', '[sys.executable, "-m", "prof_analysis", ')
    code = f"import sys\n{ours}\n{block('python', 1)}\nprint(schema['$id'])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(with_schema)},
        capture_output=True,
        text=True,
        check=True,
    )
    *steps, last = done.stdout.splitlines()
    assert (len(steps), {len(step.split()) for step in steps}, last) == (6, {4}, "urn:prof-analysis:json:1")


@pytest.mark.skipif(which("jq") is None, reason="jq is not installed: apt-get install jq")
@pytest.mark.parametrize(
    ("number", "lines"), [pytest.param(0, 15, marks=pytest.mark.slow), (1, 2), pytest.param(2, None, marks=pytest.mark.slow)]
)
def test_the_examples_with_jq_do_what_the_page_says(
    number: int, lines: int | None, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "result").symlink_to(FOLDER)
    python = f'python() {{ "{sys.executable}" -P "$@"; }}\nprof-analysis() {{ python -m prof_analysis "$@"; }}'
    ours = f"set -euo pipefail\n{python}\n{block('bash', number)}"
    done = subprocess.run(["bash", "-c", ours], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert lines in (None, len(done.stdout.splitlines()))
