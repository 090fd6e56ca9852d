"""The cache is not seen in any answer: whatever was asked before, values, types, order of rows and warnings are the same."""

import random
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import ProfAnalysisError, ProfAnalysisWarning, open_profile
from prof_analysis.analyses import ANALYSES
from tests.helpers.asking import build_at_once
from tests.helpers.places import SAMPLE
from tests.helpers.slow import quick
from tests.helpers.small_profile import edit
from tests.test_hard_profiles import SWITCHES

# Tables below the answers, which other questions keep.
TABLES = ("trace.op", "trace.kernel", "module.kernel", "module.call", "trace.set_aside", "trace.step")
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((name, {}) for name in (*ANALYSES, *TABLES)),
    *((name, {"by": "instance", "depth": 2}) for name in ("module-stats", "mfu", "module.kernel")),
    *((name, {"step_id": 1}) for name in ("module-stats", "kernel-stats", "step-time")),
    ("module-stats", {"audit_links": True}),
    ("op-stats", {"nesting_tolerance_ns": 50}),
)
Exports = Literal["db", "text"]
Answer = tuple[dict[str, pa.Table], list[str]] | str


def answer(path: Path, question: str, options: dict[str, Any], **cache: Any) -> Answer:
    """Return the tables of a question and the warnings of a new profile, or what the error says."""
    tables = ANALYSES[question].tables if question in ANALYSES else (question,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        try:
            with open_profile(path, **options, **cache) as profile:
                build_at_once(profile, question)
                return {table: profile.table(table, arrow=True) for table in tables}, list(profile.warnings)
        except ProfAnalysisError as error:
            return str(error)


def assert_same(kept: Answer, fresh: Answer, what: object) -> None:
    if isinstance(kept, str) or isinstance(fresh, str):
        assert kept == fresh, what
        return
    assert kept[1] == fresh[1], what
    for table, rows in fresh[0].items():
        assert kept[0][table].schema == rows.schema, (what, table)
        assert kept[0][table].to_pylist() == rows.to_pylist(), (what, table)


def assert_unseen(path: Path, cache: Path, questions: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """Ask questions with one cache after one another, and compare each answer with that of a profile without a cache."""
    asked: list[str] = []
    for question, options in questions:
        asked.append(question)
        kept = answer(path, question, options, cache=cache)
        assert_same(kept, answer(path, question, options, cache="none"), (asked, options))


def shuffled(seed: int, count: int) -> list[tuple[str, dict[str, Any]]]:
    return random.Random(seed).sample(QUESTIONS, count)


def hard(folder: Path, exports: Exports) -> Path:
    generate(folder, Shape(**SWITCHES, steps=3), ranks=1, seed=4, style=TextStyle(exports=exports))
    return folder


def damaged(folder: Path, exports: Exports) -> Path:
    """A profile with cells of a wrong type, repeated rows and a table that is missing; or with a list of events that is cut."""
    hard(folder, exports)
    for database in folder.rglob("ascend_pytorch_profiler*.db"):
        edit(database, "UPDATE PYTORCH_API SET sequenceNumber = 'x' WHERE rowid % 7 = 0")
        edit(database, "UPDATE PYTORCH_API SET inputShapes = 'x' WHERE rowid % 5 = 0")
        edit(database, "UPDATE TASK SET streamId = 'x' WHERE rowid = 9")
        edit(database, "INSERT INTO TASK SELECT * FROM TASK LIMIT 3")
        edit(database, "INSERT INTO PYTORCH_API SELECT * FROM PYTORCH_API LIMIT 40")
        edit(database, "DROP TABLE CONNECTION_IDS")
    for trace in folder.rglob("trace_view.json"):
        text = trace.read_text(encoding="utf-8")
        trace.write_text(text[: len(text) * 3 // 4], encoding="utf-8")
    for details in folder.rglob("kernel_details.csv"):
        lines = details.read_text(encoding="utf-8").splitlines(keepends=True)
        details.write_text("".join([*lines, *lines[5:8]]), encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "count"), quick([(1, 3), (2, len(QUESTIONS)), (3, len(QUESTIONS))], 0))
@pytest.mark.parametrize("exports", ["db", pytest.param("text", marks=pytest.mark.slow)])
@pytest.mark.parametrize("profile", [pytest.param(hard, marks=pytest.mark.slow), damaged])
def test_no_answer_depends_on_what_was_asked_before(
    profile: Callable[[Path, Exports], Path], exports: Exports, seed: int, count: int, tmp_path: Path
) -> None:
    assert_unseen(profile(tmp_path / "profile", exports), tmp_path / "cache", shuffled(seed, count))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_no_answer_about_the_sample_depends_on_what_was_asked_before(seed: int, tmp_path: Path) -> None:
    assert_unseen(SAMPLE, tmp_path / "cache", shuffled(seed, len(QUESTIONS)))
