"""What a rank holds and what an analysis requires make the answer, whatever the format."""

import inspect
from pathlib import Path
from typing import Any, get_args

import duckdb
import pytest

from prof_analysis.analyses import ANALYSES, export_name
from prof_analysis.common import options
from prof_analysis.common.answer_options import Options
from prof_analysis.common.capabilities import CAPABILITIES, OF_THE_RUN, Requirement, any_of, lacking, why_not
from prof_analysis.engine.tables import documented_tables
from prof_analysis.sources import NAMES, SOURCES, Source
from prof_analysis.sources.discovery import find_ranks
from prof_analysis.sources.found import Found
from prof_analysis.sources.identity import Identity
from prof_analysis.sources.rank import Rank
from prof_analysis.sources.remarks import Remark

MEMBERS = [name for name in vars(Source) if not name.startswith("_")]


@pytest.mark.parametrize(
    ("requires", "lacks", "expected"),
    [
        ((), {"ops": "no ops"}, None),
        (("ops",), {}, None),
        (("ops",), {"ops": "no ops"}, "no ops"),
        (("kernels", "ops"), {"ops": "no ops"}, "no ops"),
        (("kernels", "ops"), {"ops": "no ops", "kernels": "no kernels"}, "no kernels"),
        ((any_of("kernels", "reported_steps"),), {"kernels": "no kernels"}, None),
        ((any_of("kernels", "reported_steps"),), {"reported_steps": "no file"}, None),
        ((any_of("kernels", "reported_steps"),), {"reported_steps": "no file", "kernels": "no kernels"}, "no kernels"),
        ((any_of("kernels", "reported_steps"), "ops"), {"kernels": "no kernels", "ops": "no ops"}, "no ops"),
    ],
)
def test_the_first_requirement_that_is_not_met_says_why(
    requires: tuple[Requirement, ...], lacks: dict[str, str], expected: str | None
) -> None:
    assert why_not(requires, lacks) == expected


def test_what_a_source_does_not_mention_is_not_in_its_format() -> None:
    reasons = {"kernels": None, "ops": "collected without CPU activity"}
    expected = {name: f"no {meaning} in this format" for name, meaning in CAPABILITIES.items() if name != "kernels"}
    assert dict(lacking(reasons)) == {**expected, "ops": "collected without CPU activity"}


def test_a_source_cannot_say_what_nobody_knows() -> None:
    with pytest.raises(AssertionError, match="kernel"):
        lacking({"kernel": None})


def test_every_capability_is_required_by_an_analysis_or_a_rule_and_every_requirement_is_one() -> None:
    required = [one for analysis in ANALYSES.values() for one in analysis.requires]
    required += [one for analysis in ANALYSES.values() for extra in analysis.extras.values() for one in extra.requires]
    required += [one for table in documented_tables().values() for one in table.requires]
    names = {name for one in required for name in ((one,) if isinstance(one, str) else one)}
    assert names == CAPABILITIES.keys() - {"kernel_types"}, "why some kernels have no type is only said beside kernel-stats"
    assert names >= OF_THE_RUN


def test_a_command_is_one_word() -> None:
    assert not [command for command in ANALYSES if " " in command]


def test_each_source_is_the_room_of_its_name() -> None:
    assert [source.NAME for source in SOURCES.values()] == [*NAMES.values()] == [*SOURCES]


def test_each_source_can_be_chosen_by_its_word() -> None:
    assert get_args(options.Source) == ("auto", *NAMES)


def signature_of(function: Any) -> tuple[list[tuple[str, Any]], Any]:
    """Return the parameters with their types, and the type of what is returned."""
    names = {
        "Found": Found,
        "Options": Options,
        "Identity": Identity,
        "Rank": Rank,
        "Remark": Remark,
        "duckdb": duckdb,
    }  # The protocol imports these for checkers only.
    signature = inspect.signature(function, eval_str=True, locals=names)
    parameters = [(one.name, one.annotation) for one in signature.parameters.values() if one.name != "self"]
    return parameters, signature.return_annotation


@pytest.mark.parametrize("room", NAMES.values())
def test_a_source_has_each_member_of_the_protocol(room: str) -> None:
    """Rooms are imported by name, so mypy does not hold them against the protocol."""
    assert [name for name in MEMBERS if not hasattr(SOURCES[room], name)] == []
    functions = [name for name in MEMBERS if not isinstance(vars(Source)[name], property)]
    signatures = {name: signature_of(getattr(SOURCES[room], name)) for name in functions}
    assert signatures == {name: signature_of(vars(Source)[name]) for name in functions}


class Made:
    """A source that finds each file whose name begins with its own, and whose ranks answer by what is in the file."""

    RESULTS = ("a file of a test",)
    INNER_FOLDERS = ()

    def __init__(self, name: str) -> None:
        self.NAME = name
        self.inspected: list[str] = []

    def takes(self, _file: Path) -> bool:
        """Take every file."""
        return True

    def find(self, folder: Path, is_folder: dict[str, bool]) -> Found:
        """Find each file."""
        return Found(tuple(folder / name for name in sorted(is_folder) if not is_folder[name]))

    def inspect(self, result: Path, profile: str, _options: Options) -> list[Rank]:
        """Read what the file says that this source has of it."""
        self.inspected.append(profile)
        said = dict(line.split(": ") for line in result.read_text(encoding="utf-8").splitlines())
        rank = Rank(profile, result.parent, inputs=(result.with_suffix(f".{self.NAME}"),))
        if self.NAME not in said:
            return [Rank(profile, result.parent, left_out=f"no {self.NAME} here")]
        if said[self.NAME] == "broken":
            return [Rank(profile, result.parent, inputs=rank.inputs, left_out=f"{self.NAME} is broken")]
        held = CAPABILITIES if said[self.NAME] == "all" else said[self.NAME].split()
        return [Rank(profile, result.parent, inputs=rank.inputs, lacks=lacking(dict.fromkeys(held)))]


@pytest.mark.parametrize(
    ("content", "source", "unread", "inspected"),
    [
        ("one: kernels\ntwo: kernels ops", "two", (), ["one", "two"]),
        ("one: kernels ops\ntwo: kernels", "one", (), ["one", "two"]),
        ("one: kernels\ntwo: kernels", "one", (), ["one", "two"]),
        ("one: all\ntwo: all", "one", (), ["one"]),
        ("one: broken\ntwo: kernels", "two", ("one is broken",), ["one", "two"]),
        ("one: kernels\ntwo: broken", "one", (), ["one", "two"]),
        ("two: kernels", "two", (), ["one", "two"]),
        ("two: marks", "two", (), ["one", "two"]),
    ],
)
def test_the_source_that_answers_more_reads_a_result_and_the_first_where_they_answer_the_same(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: str,
    source: str,
    unread: tuple[str, ...],
    inspected: list[str],
) -> None:
    sources = {name: Made(name) for name in ("one", "two")}
    monkeypatch.setattr("prof_analysis.sources.discovery.SOURCES", sources)
    monkeypatch.setattr("prof_analysis.sources.discovery.NAMES", {name: name for name in sources})
    (tmp_path / "file").write_text(content, encoding="utf-8")
    for path in (tmp_path, tmp_path / "file"):
        for one in sources.values():
            one.inspected.clear()
        (rank,) = find_ranks(path)
        assert (rank.profile, rank.source, rank.unread, rank.left_out) == ("file", source, unread, None)
        assert [name for name, one in sources.items() if one.inspected] == inspected


def test_where_no_source_has_a_file_the_first_one_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {name: Made(name) for name in ("one", "two")}
    monkeypatch.setattr("prof_analysis.sources.discovery.SOURCES", sources)
    monkeypatch.setattr("prof_analysis.sources.discovery.NAMES", {name: name for name in sources})
    (tmp_path / "file").write_text("", encoding="utf-8")
    for chosen, reason in (("auto", "no one here"), ("two", "no two here")):
        (rank,) = find_ranks(tmp_path, source=chosen)
        assert (rank.source, rank.left_out) == (None, reason)


def test_no_two_tables_have_one_name_outside() -> None:
    names = [export_name(table) for table in documented_tables()]
    assert len(names) == len(set(names))
    outside = {table: export_name(table) for table in ("free.longest_gap", "free.gap", "ours.slow_op", "across.module")}
    assert outside == {
        "free.longest_gap": "FreeGap",
        "free.gap": "FreeGapTable",
        "ours.slow_op": "OursSlowOp",
        "across.module": "ModuleAcrossRanks",
    }
    assert [export_name(table) for table in ("slow.rank", "profile.rank")] == ["SlowRankTable", "ProfileRankTable"]
