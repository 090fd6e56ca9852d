"""The Python API: what each option chooses."""

from pathlib import Path
from typing import Any

import pytest

import prof_analysis
from prof_analysis import InputError, open_profile
from tests.helpers.api import OPS, RANGES, rows
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Frame, Kernel, Launch, Op, Range, write_profile


@pytest.mark.slow
def test_step_id_keeps_the_kernels_whose_op_started_in_the_step(two: Path) -> None:
    with open_profile(two, step_id=7) as profile:
        assert rows(profile.sql("FROM module.coverage WHERE kernel_count > 0", arrow=True)) == [
            (name, rank, kind, "inside modules", None, 1, ns, 1.0, None)
            for name, rank in (("a_ascend_pt", 0), ("b_ascend_pt", 3))
            for kind, ns in (("compute", 40), ("communication", 100))
        ]
    with open_profile(two, step_id=8, rank_list=[3]) as profile:
        assert profile.kernels()["name"].tolist() == ["add_kernel", "copy_kernel"]


def test_an_unknown_step_names_those_there_are(two: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says("no step 9", "the steps are 7, 8").pattern):
        open_profile(two, step_id=9)
    write_profile(tmp_path / "none_ascend_pt", OPS, RANGES)
    with pytest.raises(InputError, match=says("no step 0", "none", "prof.step() was not called").pattern):
        open_profile(tmp_path / "none_ascend_pt", step_id=0)


@pytest.mark.parametrize(
    ("tolerance_ns", "places"),
    quick(
        [
            (0, ["outside modules", "outside modules", "inside modules", "outside modules"]),
            (5, ["inside modules", "outside modules", "inside modules", "outside modules"]),
            (10**6, ["inside modules", "inside modules", "inside modules", "outside modules"]),
        ],
        1,
    ),
)
def test_an_op_may_end_as_much_later_than_its_module_as_the_tolerance_says(
    tmp_path: Path, tolerance_ns: int, places: list[str]
) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        [
            Op("5 ns late", 190, 205, (Kernel("k0", 1000, 1010),)),
            Op("6 ns late", 191, 206, (Kernel("k1", 1010, 1020),)),
            Op("in time", 192, 200, (Kernel("k2", 1020, 1030),)),
            Op("after it", 200, 203, (Kernel("k3", 1030, 1040),)),
        ],
        [Range("Net", 100, 200)],
    )
    with open_profile(tmp_path, nesting_tolerance_ns=tolerance_ns) as profile:
        assert profile.sql("SELECT location FROM module.kernel ORDER BY name")["location"].tolist() == places


def two_steps_of_two_layers(folder: Path) -> Path:
    """In each step Net runs Layer twice, each with a Linear; the Python tracer saw Net and one Layer of the first step."""
    ops, ranges = [], []
    for start in (1000, 2000):
        ranges.append(Range("Net", start, start + 400))
        for layer in (100, 200):
            ranges += [
                Range("Layer", start + layer, start + layer + 90),
                Range("Linear", start + layer + 10, start + layer + 80),
                Range("Attention", start + layer + 20, start + layer + 50, domain="Custom"),
            ]
            ops.append(Op("aten::linear", start + layer + 20, start + layer + 40))
            ops.append(Op("aten::mm", start + layer + 25, start + layer + 30, (Kernel("k", start, start + layer),)))
    frames = [Frame("nn.Module: Net_0", 1000, 1400), Frame("nn.Module: My_Layer_12", 1100, 1190)]
    write_profile(folder, ops, ranges, frames=frames)
    return folder.parent


MARKED: dict[str, tuple[dict[str, Any], list[tuple[str, str, int, int]]]] = {
    "nothing": ({}, [("Net/Layer", "Linear", 600, 4)]),
    "mstx": ({"module_source": "mstx"}, [("Net/Layer", "Linear", 600, 4)]),
    "the Python tracer": ({"module_source": "nn.Module"}, [("Net", "My_Layer", 100, 1), ("", "Net", 200, 1)]),
    "a domain": ({"module_domains": ["Custom"]}, [("", "Attention", 600, 4)]),
    "two domains": ({"module_domains": ("Module", "Custom")}, [("Net/Layer/Linear", "Attention", 600, 4)]),
    "a domain that is not there": ({"module_domains": ["None"]}, [("Net", "My_Layer", 100, 1), ("", "Net", 200, 1)]),
    "classes": ({"by": "class"}, [("Net/Layer", "Linear", 600, 4)]),
    "instances": (
        {"instances": True},
        [("Net[0]/Layer[0]", "Linear[0]", 200, 2), ("Net[0]/Layer[1]", "Linear[0]", 400, 2)],
    ),
    "depth 1": ({"depth": 1}, [("", "Net", 600, 4)]),
    "depth 2": ({"depth": 2}, [("Net", "Layer", 600, 4)]),
    "depth 3": ({"depth": 3}, [("Net/Layer", "Linear", 600, 4)]),
    "depth 9": ({"depth": 9}, [("Net/Layer", "Linear", 600, 4)]),
    "instances to a depth": ({"by": "instance", "depth": 2}, [("Net[0]", "Layer[0]", 200, 2), ("Net[0]", "Layer[1]", 400, 2)]),
}


@pytest.mark.parametrize(("options", "expected"), quick(MARKED.values(), 12), ids=MARKED)
def test_what_a_module_is_can_be_chosen(
    tmp_path: Path, options: dict[str, Any], expected: list[tuple[str, str, int, int]]
) -> None:
    with open_profile(two_steps_of_two_layers(tmp_path / "a_ascend_pt"), **options) as profile:
        columns = ["parent_module", "module", "total_kernel_duration_ns"]
        found = profile.module_stats().groupby(columns[:2], sort=False).agg({columns[2]: "sum", "op_count": "sum"})
        assert [(*key, *row) for key, row in zip(found.index, found.values.tolist(), strict=True)] == expected
        tree = profile.module_tree()
        assert tree["own_kernel_duration_ns"].sum() == sum(row[2] for row in expected)
        assert tree["depth"].max() <= options.get("depth", 4)
        expected_source = "nn.Module" if expected[0][1] == "My_Layer" else "mstx"
        assert profile.ranks()["modules_from"].tolist() == [expected_source]


@pytest.mark.slow
def test_the_one_line_takes_the_choice_of_modules(tmp_path: Path) -> None:
    frame = prof_analysis.module_stats(two_steps_of_two_layers(tmp_path / "a_ascend_pt"), instances=True, depth=1)
    assert frame["module"].tolist() == ["Net[0]"] * len(frame)


def test_a_source_that_the_profile_lacks_is_named(one: Path) -> None:
    with open_profile(one, module_source="nn.Module") as profile:
        with pytest.raises(InputError, match="no module ranges"):
            profile.module_stats()
        assert profile.coverage().query("location == 'inside modules'")["kernel_count"].sum() == 0


@pytest.mark.slow
def test_an_audit_judges_every_launch_and_corrects_the_wrong_ones(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        [Op("aten::linear", 110, 140), Op("aten::mm", 120, 130)],
        RANGES[:1],
        launches=[
            Launch(112, 114, (Kernel("k1", 1000, 1001),), recorded_op=0),
            Launch(122, 124, (Kernel("k2", 1010, 1012),), recorded_op=1),
            Launch(126, 128, (Kernel("k3", 1020, 1024),), recorded_op=0),
        ],
    )
    query = "SELECT link, op_name FROM module.kernel ORDER BY start_ns"
    with open_profile(tmp_path) as profile:
        found = profile.sql(query).values.tolist()
        assert found == [["recorded", "aten::linear"], ["recorded", "aten::mm"], ["recorded", "aten::linear"]]
        assert profile.table("module.derived_link").empty
        assert profile.table("module.link_audit").empty
    with open_profile(tmp_path, audit_links=True) as profile:
        found = profile.sql(query).values.tolist()
        assert found == [["recorded", "aten::linear"], ["recorded", "aten::mm"], ["corrected", "aten::mm"]]
        assert len(profile.table("module.derived_link")) == 3
        (row,) = profile.table("module.link_audit", arrow=True).drop_columns(["recorded_op_id", "derived_op_id"]).to_pylist()
    assert row == {
        "profile": "a_ascend_pt",
        "rank_id": 0,
        "launch_id": 5002,
        "recorded_op": "aten::linear",
        "derived_op": "aten::mm",
        "kernel_count": 1,
        "kernel_duration_ns": 4,
    }


def test_rank_list_reads_only_these_ranks(two: Path) -> None:
    (other,) = (two / "a_ascend_pt").rglob("*.db")
    other.write_bytes(b"not a database, " * 100)
    with open_profile(two, rank_list=[3]) as profile:
        assert profile.ranks()["rank_id"].tolist() == [3]
        assert profile.kernels()["rank_id"].tolist() == [3] * 5
        assert profile.failures == []


def test_an_unknown_rank_names_those_there_are(two: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says("no rank 1, 7", "the ranks are 0, 3").pattern):
        open_profile(two, rank_list=[7, 0, 1])
    write_profile(tmp_path / "none_ascend_pt", OPS, RANGES, rank=None)
    with pytest.raises(InputError, match=says("no rank 0", "none has a number").pattern):
        open_profile(tmp_path / "none_ascend_pt", rank_list=[0])


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("by", "instances", "class or instance"),
        ("module_source", "nn", "auto, mstx or nn.Module"),
        ("module_domains", [], "at least one domain"),
        ("rank_list", [], "at least one rank id"),
        ("depth", 0, "1 or more"),
    ],
)
def test_a_wrong_option_is_named_with_what_it_takes(tmp_path: Path, option: str, value: Any, expected: str) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    with pytest.raises(InputError, match=f"{option}=.*: give {expected}"):
        open_profile(tmp_path, **{option: value})


@pytest.mark.slow
def test_one_domain_may_be_given_as_a_text(tmp_path: Path) -> None:
    ops = [Op("op", 10, 20, (Kernel("k", 200, 203),))]
    write_profile(tmp_path / "a_ascend_pt", ops, [Range("Net", 0, 100, domain="Custom")])
    with open_profile(tmp_path, module_domains="Custom") as profile:
        assert profile.module_tree()["module"].tolist() == ["Net"]
