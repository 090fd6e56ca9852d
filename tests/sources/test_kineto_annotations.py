"""Files of annotations of kernels: read as data and never run, whatever they hold."""

import os
import pickle
import time
from pathlib import Path

import pytest

from prof_analysis.sources.kineto.annotations import read_annotations


class Attack:
    """An object whose pickle runs a command when it is read."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch attacked",)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(pickle.dumps({1: [Attack()]}), "more than numbers, texts, lists and dicts", id="runs a command"),
        pytest.param(
            pickle.dumps({1: [Attack()]}, 0), "more than numbers, texts, lists and dicts", id="the same in protocol 0"
        ),
        pytest.param(b"\x80\x04" + b"]" * 100_000 + b"a" * 99_999 + b".", "no dict", id="deep"),
        pytest.param(b"\x80\x04r\xff\xff\xff\x7f.", "damaged", id="asks for 17 GB"),
        pytest.param(pickle.dumps({1: ["x"] * 9})[:-4], "damaged", id="cut off"),
        pytest.param(b"", "damaged", id="empty"),
    ],
)
def test_a_hostile_pickle_is_a_warning_and_is_never_run(
    content: bytes, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "kernel_annotations_rank0_x.pkl"
    file.write_bytes(content)
    annotations, problems = read_annotations([file])
    assert annotations == {}
    (sentence,) = problems
    assert sentence.startswith(f"{file}: ")
    assert problem in sentence
    assert [one.name for one in tmp_path.iterdir()] == [file.name], "nothing ran"


def test_of_one_large_object_named_a_million_times_no_more_is_read_than_can_count(tmp_path: Path) -> None:
    file = tmp_path / "kernel_annotations_rank0_x.pkl"
    scopes = [{"module_fqn": "a." * 2_000 + "b", "name": "x" * 10_000}] * 100_000
    file.write_bytes(pickle.dumps(dict.fromkeys(range(1, 100), scopes)))
    begin = time.process_time()
    annotations, problems = read_annotations([file])
    assert (len(annotations), len(annotations[1].modules), annotations[1].name, problems) == (99, 64, None, [])
    assert time.process_time() - begin < 20


def test_early_annotations_are_texts(tmp_path: Path) -> None:
    """Of a name that several modules share, what is around them all is the module."""
    notes = {3: ["a.0.b"], 4: [{"str": "a.1.b + a.1.c"}], 5: {"name": "d"}, "6": "e", 7: [{"name": "f"}, {"name": "g"}], 8: [8]}
    (tmp_path / "x.pkl").write_bytes(pickle.dumps(notes))
    annotations, _ = read_annotations([tmp_path / "x.pkl"])
    assert {node: ".".join(one.modules) for node, one in annotations.items()} == {
        3: "a.0.b", 4: "a.1", 5: "d", 6: "e", 7: "g", 8: ""
    }  # fmt: skip
