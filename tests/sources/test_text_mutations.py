"""Text exports in every shape that people and programs leave them in: at most their own rank fails, the other one answers."""

import csv
import io
import json
import random
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import InputError, open_profile
from tests.helpers.asking import build_at_once

Mutation = Callable[[bytes, random.Random], bytes]
TABLES = ("kernels.statistic", "op.statistic", "communication.time", "step.time", "step.overlap_audit", "trace.set_aside")
SECONDS = 60
ODD_NUMBERS = ["1e99999999999999999999", "-1e400", "NaN", "9" * 5000, "-5", "0.1e-3", '"1,5"', "true", "[1]", "null", '""']


def rows_of(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def as_csv(rows: list[list[str]], delimiter: str = ",") -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode()


def without_last_newline(content: bytes, draw: random.Random) -> bytes:
    return content.rstrip()[: draw.choice([None, None, -1, -3, -40])]


def in_another_notation(content: bytes, draw: random.Random) -> bytes:
    """Times as the user of some spreadsheet has them, in all rows or in some."""
    head, *rows = rows_of(content)
    notation = draw.choice(["{:,}", "{:.6E}", "{:.15E}", "{:.20E}", "{:.0f}", "{:.1f}", "comma", "dots", "blanks", "cut"])
    is_mixed = draw.random() < 0.3
    for row in rows:
        for place, name in enumerate(head):
            if name.endswith("(us)") and row[place][:1].isdigit() and (not is_mixed or draw.random() < 0.5):
                number, plain = float(row[place]), row[place].strip()
                words = {
                    "comma": plain.replace(".", ","),
                    "dots": f"{number:,}".translate(str.maketrans(",.", ".,")),
                    "blanks": f"{number:,}".replace(",", "\u202f"),
                    "cut": f"{number:.0f}"[:15] + "0",
                }
                row[place] = words[notation] if notation in words else notation.format(number)
    return as_csv([head, *rows], draw.choice(",;\t"))


def with_names_used_twice(content: bytes, draw: random.Random) -> bytes:
    head, *rows = rows_of(content)
    places = [draw.randrange(len(head)) for _ in range(4)]
    wider = [[*row, *(row[place] for place in draw.sample(places, 4))] for row in rows]
    return as_csv([[*head, *(head[place] for place in places)], *wider, *draw.choices(wider, k=20)])


def of_several_lines(content: bytes, draw: random.Random) -> bytes:
    head, *rows = rows_of(content)
    for row in draw.sample(rows, len(rows) // 2):
        place = draw.randrange(len(row))
        row[place] = row[place].replace(";", ";\r\n") if draw.random() < 0.8 else row[place] + "\n"
    return as_csv([head, *rows])


def as_object(content: bytes, draw: random.Random) -> bytes:
    others: list[dict[str, Any]] = [{}, {"displayTimeUnit": "ms"}, {"a": [{"b": "}, {"}, {"c": [1]}], "d": 'traceEvents": ['}]
    whole = {**draw.choice(others), "traceEvents": json.loads(content), "z": draw.choice(others)}
    text = json.dumps(whole, indent=draw.choice([None, None, 1])).encode()
    return text[: draw.choice([None, None, -1, -3, -30, len(text) // 2, 12, 20])]


def with_events_used_twice(content: bytes, draw: random.Random) -> bytes:
    events = json.loads(content)
    return json.dumps(events + draw.choices(events, k=len(events) // 2)).encode()


def with_odd_numbers(content: bytes, draw: random.Random) -> bytes:
    """Some of the values of any JSON are other ones."""

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: changed(one) for key, one in value.items()}
        if isinstance(value, list):
            return [changed(one) for one in value]
        return f"<{draw.choice(ODD_NUMBERS)}>" if draw.random() < 0.02 else value

    text = json.dumps(changed(json.loads(content)))
    for odd in ODD_NUMBERS:
        text = text.replace(json.dumps(f"<{odd}>"), odd)
    return text.encode()


def with_other_bytes(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.choice([1, 20, 300])):
        changed[draw.randrange(len(changed))] = draw.choice([*b'{}[]",:\\\n', draw.randrange(256)])
    return bytes(changed[: draw.choice([None, draw.randrange(1, len(changed))])])


OF_CSV: tuple[Mutation, ...] = (without_last_newline, in_another_notation, with_names_used_twice, of_several_lines)
OF_JSON: tuple[Mutation, ...] = (with_odd_numbers, with_other_bytes)
OF_TRACE: tuple[Mutation, ...] = (as_object, with_events_used_twice, *OF_JSON)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks as text exports."""
    folder = tmp_path_factory.mktemp("two")
    generate(folder, Shape(steps=1, layers=1), ranks=2, style=TextStyle(exports="text"))
    return folder


def answers(folder: Path) -> tuple[dict[str, list[dict[str, Any]]], list[str], list[str]]:
    """The tables, the failures, and what went wrong that nobody foresaw."""
    try:
        with open_profile(folder) as profile:
            build_at_once(profile, *TABLES)
            tables = {name: profile.table(name, arrow=True).to_pylist() for name in TABLES}
            return tables, profile.failures, [one for one in profile.details if one]
    except InputError as error:
        return {}, [str(error)], []


def answers_in_time(folder: Path) -> tuple[dict[str, list[dict[str, Any]]], list[str], list[str]]:
    """The same, in a thread, so that a hang fails the test and not the run of all tests."""
    found: list[tuple[dict[str, list[dict[str, Any]]], list[str], list[str]]] = []
    thread = Thread(target=lambda: found.append(answers(folder)), daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert found, f"no answer within {SECONDS} s"
    return found[0]


def of_first_rank(tables: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The rows of the rank that is whole; the other one may look like another run, and then all rows name their run."""
    return {
        name: [{key: cell for key, cell in row.items() if key != "run"} for row in rows if row["rank_id"] == 0]
        for name, rows in tables.items()
    }


@cache
def whole_answer(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return of_first_rank(answers(folder)[0])


def check_mutations(seed: int, two: Path, folder: Path) -> None:
    draw = random.Random(seed)
    shutil.copytree(two, folder)
    (second,) = (path for path in folder.iterdir() if next(path.rglob("profiler_info_*.json")).stem.endswith("_1"))
    for file in sorted(second.rglob("*")):
        if file.suffix in (".csv", ".json") and not file.stem.startswith("profiler_info"):
            choices = OF_TRACE if file.stem == "trace_view" else OF_CSV if file.suffix == ".csv" else OF_JSON
            mutate = draw.choice(choices)
            file.write_bytes(mutate(file.read_bytes(), draw))
    tables, failures, unforeseen = answers_in_time(folder)
    assert of_first_rank(tables) == whole_answer(two), seed
    assert len(failures) <= 1, seed
    assert not [one for one in unforeseen if "InputError" not in one], seed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")
def test_mutations_of_a_rank_cost_no_other_rank_an_answer(two: Path, tmp_path: Path) -> None:
    for seed in range(1):
        check_mutations(seed, two, tmp_path / str(seed))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")
def test_many_mutations_of_a_rank_cost_no_other_rank_an_answer(two: Path, tmp_path: Path) -> None:
    for seed in range(1, 200):
        check_mutations(seed, two, tmp_path / str(seed))
