"""The Python API: what each method gives, column by column and type by type, and what it says when it cannot."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import prof_analysis
from prof_analysis import InputError, OutputError, ProfAnalysisError, ProfAnalysisWarning, Profile, QueryError, open_profile
from prof_analysis.sources.ascend_beside.profiler_info import NO_GRAPH_CALLS
from tests.helpers.answers import NO_COUNTERS, answered_without, unanswered
from tests.helpers.asking import build_at_once
from tests.helpers.slow import quick
from tests.helpers.small_profile import Frame, Kernel, Launch, Op, Range, edit, write_profile

RANGES = (Range("Net", 100, 200), Range("Layer", 105, 125))
OPS = (
    Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040), Kernel("hcom_allReduce_", 1050, 1150, "communication"))),
    Op("aten::add", 130, 140, (Kernel("add_kernel", 1200, 1210),)),
    Op("aten::item", 300, 310, (Kernel("copy_kernel", 1300, 1350),)),
)
UNLINKED = (Kernel("lost_kernel", 1400, 1500),)
STEPS = ((7, 100, 125), (8, 125, 400))
SHAPES, TYPES = '"16,16;16,16"', "FLOAT16;FLOAT16"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Profile]:
    """Two equal ranks, the second without a number, open for all tests that only ask."""
    folder = tmp_path_factory.mktemp("shared")
    for name, rank in (("a", 0), ("b", None)):
        database = write_profile(folder / f"{name}_ascend_pt", OPS, RANGES, UNLINKED, STEPS, rank=rank)
        edit(database, "INSERT INTO STRING_IDS VALUES (900, '2,3;3,4'), (901, 'float;float')")
        edit(database, "UPDATE PYTORCH_API SET sequenceNumber = 5, inputShapes = 900, inputDtypes = 901 WHERE startNs = '130'")
    with open_profile(folder) as profile:
        build_at_once(
            profile, "module-stats", "module.kernel", "module.interval", "module.path", "trace.op", "trace.step",
            "kernel-stats", "op-stats", "communication-stats", "mstx-stats",
        )  # fmt: skip
        yield profile


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A folder of one rank, number 0."""
    write_profile(tmp_path / "one" / "a_ascend_pt", OPS, RANGES, UNLINKED, STEPS)
    return tmp_path / "one"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A folder of two equal ranks, numbers 0 and 3."""
    for folder, rank in (("a", 0), ("b", 3)):
        write_profile(tmp_path / "two" / f"{folder}_ascend_pt", OPS, RANGES, UNLINKED, STEPS, rank=rank)
    return tmp_path / "two"


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def of_both(*rows_of_one: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The rows of both shared ranks."""
    return [(*rank, *row) for rank in (("a_ascend_pt", 0), ("b_ascend_pt", None)) for row in rows_of_one]


def test_module_stats_in_every_column(shared: Profile) -> None:
    table = shared.module_stats(arrow=True)
    assert table.schema == pa.schema(
        {
            "profile": pa.string(),
            "rank_id": pa.int32(),
            "parent_module": pa.string(),
            "module": pa.string(),
            "op_name": pa.string(),
            "kernel_list": pa.string(),
            "total_kernel_duration_ns": pa.int64(),
            "avg_kernel_duration_ns": pa.float64(),
            "op_count": pa.int64(),
            "avg_mfu": pa.string(),
            "op_chain": pa.string(),
        }
    )
    assert rows(table) == of_both(
        ("Net", "Layer", "aten::mm", "mm_kernel, hcom_allReduce_", 140, 140.0, 1, None, "aten::mm"),
        ("", "Net", "aten::add", "add_kernel", 10, 10.0, 1, None, "aten::add"),
    )


def test_module_tree_in_every_column(shared: Profile) -> None:
    table = shared.module_tree(arrow=True)
    assert table.schema == pa.schema(
        {
            "profile": pa.string(),
            "rank_id": pa.int32(),
            "parent_module": pa.string(),
            "module": pa.string(),
            "depth": pa.int64(),
            "calls": pa.int64(),
            "own_kernel_duration_ns": pa.int64(),
            "kernel_duration_ns": pa.int64(),
            "kernel_duration_share": pa.float64(),
            "avg_kernel_duration_ns": pa.float64(),
        }
    )
    assert rows(table) == of_both(
        ("", "Net", 1, 1, 10, 150, 0.5, 150.0),
        ("Net", "Layer", 2, 1, 140, 140, 140 / 300, 140.0),
    )


def test_coverage_in_every_column(shared: Profile) -> None:
    table = shared.coverage(arrow=True)
    assert table.schema == pa.schema(
        {
            "profile": pa.string(),
            "rank_id": pa.int32(),
            "kind": pa.string(),
            "location": pa.string(),
            "reason": pa.string(),
            "kernel_count": pa.int64(),
            "kernel_duration_ns": pa.int64(),
            "kernel_duration_share": pa.float64(),
            "top_ops": pa.string(),
        }
    )
    assert rows(table) == of_both(
        ("compute", "inside modules", None, 2, 50, 0.25, None),
        ("compute", "outside modules", "outside every module", 1, 50, 0.25, "aten::item"),
        ("compute", "linked to no op", "no host launch", 1, 100, 0.5, None),
        ("communication", "inside modules", None, 1, 100, 1.0, None),
        ("communication", "outside modules", None, 0, 0, 0.0, None),
        ("communication", "linked to no op", None, 0, 0, 0.0, None),
    )


def test_kernels_in_every_column(shared: Profile) -> None:
    table = shared.kernels(arrow=True)
    op_ids = dict(rows(shared.sql("SELECT DISTINCT name, op_id FROM trace.op", arrow=True)))
    interval_ids = dict(rows(shared.sql("SELECT DISTINCT name, interval_id FROM module.interval", arrow=True)))
    path_ids = dict(rows(shared.sql("SELECT DISTINCT module, path_id FROM module.path", arrow=True)))
    assert [len(ids) for ids in (op_ids, interval_ids, path_ids)] == [3, 2, 2]
    assert len(set(rows(table.select(["profile", "kernel_id"])))) == 10
    assert table.schema == pa.schema(
        {
            "profile": pa.string(),
            "rank_id": pa.int32(),
            "kernel_id": pa.int64(),
            "kind": pa.string(),
            "name": pa.string(),
            "type": pa.string(),
            "core": pa.string(),
            "device_id": pa.int64(),
            "stream_id": pa.int64(),
            "start_ns": pa.int64(),
            "end_ns": pa.int64(),
            "duration_ns": pa.int64(),
            "input_shapes": pa.string(),
            "input_types": pa.string(),
            "output_shapes": pa.string(),
            "location": pa.string(),
            "reason": pa.string(),
            "link": pa.string(),
            "op_id": pa.int64(),
            "op_name": pa.string(),
            "op_start_ns": pa.int64(),
            "op_end_ns": pa.int64(),
            "interval_id": pa.int64(),
            "instance_id": pa.int64(),
            "path_id": pa.int64(),
            "parent_module": pa.string(),
            "module": pa.string(),
        }
    )
    compute = ("Mul", "AI_CORE", 0, 2)
    described = (SHAPES, TYPES, SHAPES)
    reduce = "hcom_allReduce_"
    inside = ("inside modules", None, "recorded")
    mm, add, item = (
        (op_ids[name], name, *times)
        for name, *times in (("aten::mm", 110, 120), ("aten::add", 130, 140), ("aten::item", 300, 310))
    )
    layer = (*inside, *mm, *[interval_ids["Layer"]] * 2, path_ids["Layer"], "Net", "Layer")
    net = (*inside, *add, *[interval_ids["Net"]] * 2, path_ids["Net"], "", "Net")
    outside = ("outside modules", "outside every module", "recorded", *item, *[None] * 5)
    found = table.drop_columns(["kernel_id"]).sort_by([("profile", "ascending"), ("start_ns", "ascending")])
    assert rows(found) == of_both(
        ("compute", "mm_kernel", *compute, 1000, 1040, 40, *described, *layer),
        ("communication", f"{reduce}_904_1_1", reduce, *[None] * 3, 1050, 1150, 100, *[None] * 3, *layer),
        ("compute", "add_kernel", *compute, 1200, 1210, 10, *described, *net),
        ("compute", "copy_kernel", *compute, 1300, 1350, 50, *described, *outside),
        ("compute", "lost_kernel", *compute, 1400, 1500, 100, *described, "linked to no op", "no host launch", *[None] * 10),
    )


def test_ops_in_every_column(shared: Profile) -> None:
    table = shared.ops(arrow=True)
    assert len(set(rows(table.select(["profile", "op_id"])))) == 6
    assert table.schema == pa.schema(
        {
            "profile": pa.string(),
            "rank_id": pa.int32(),
            "op_id": pa.int64(),
            "tid": pa.int64(),
            "name": pa.string(),
            "start_ns": pa.int64(),
            "end_ns": pa.int64(),
            "duration_ns": pa.int64(),
            "is_step": pa.bool_(),
            "sequence_number": pa.int64(),
            "forward_thread_id": pa.int64(),
            "input_shapes": pa.string(),
            "input_types": pa.string(),
        }
    )
    assert rows(table.drop_columns(["op_id"])) == of_both(
        (1, "aten::mm", 110, 120, 10, False, None, 0, None, None),
        (1, "aten::add", 130, 140, 10, False, 5, 0, "2,3;3,4", "float;float"),
        (1, "aten::item", 300, 310, 10, False, None, 0, None, None),
    )


def test_ranks_in_every_column(two: Path) -> None:
    with open_profile(two) as profile:
        table = profile.ranks(arrow=True)
    texts = pa.list_(pa.string())
    assert table.schema == pa.schema(
        {
            "profile": pa.string(),
            "rank_id": pa.int32(),
            "rank_id_from": pa.string(),
            "device_id": pa.int32(),
            "profiler_level": pa.string(),
            "source": pa.string(),
            "modules_from": pa.string(),
            "answers": texts,
            "may_answer": texts,
            "unanswered": texts,
            "missing": texts,
            "unread": texts,
            "left_out": pa.string(),
            "files": texts,
            "folder": pa.string(),
        }
    )
    lacks = {"counters": NO_COUNTERS, "graph_calls": NO_GRAPH_CALLS}
    answers = list(answered_without(*lacks))
    reasons = [f"{command}: {reason}" for command, reason in unanswered(lacks)]
    found_out = ["layer-stats"]
    expected: list[tuple[Any, ...]] = []
    for name, rank in (("a_ascend_pt", 0), ("b_ascend_pt", 3)):
        file = f"ascend_pytorch_profiler_{rank}.db"
        expected.append(
            (
                name,
                rank,
                file,
                None,
                None,
                "ascend_db",
                "mstx",
                answers,
                found_out,
                reasons,
                [],
                [],
                None,
                [file],
                str(two / name),
            )
        )
    assert rows(table) == expected


@pytest.mark.parametrize(
    "method",
    [
        "ranks", "module_stats", "module_tree", "coverage", "kernels", "ops", "kernel_stats", "op_stats", "communication_stats",
        "mstx_stats",
    ],
)  # fmt: skip
def test_a_frame_is_the_arrow_table_with_integers_that_stay_integers(shared: Profile, method: str) -> None:
    ask: Callable[..., pa.Table | pd.DataFrame] = getattr(shared, method)
    frame, table = ask(), ask(arrow=True)
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == table.column_names
    assert frame.columns.tolist()[:2] == ["profile", "rank_id"]
    assert frame["rank_id"].dtype == pd.Int32Dtype()
    for field in table.schema:
        column = table[field.name]
        if pa.types.is_integer(field.type):
            plain = str(field.type)
            assert frame[field.name].dtype == (plain.capitalize() if column.null_count else plain)
        if not pa.types.is_list(field.type):
            assert [None if pd.isna(value) else value for value in frame[field.name]] == column.to_pylist()


def test_module_stats_in_one_line(one: Path) -> None:
    with open_profile(one) as profile:
        expected = profile.module_stats()
    pd.testing.assert_frame_equal(prof_analysis.module_stats(str(one)), expected)


def test_the_one_line_takes_the_options_of_a_profile(two: Path) -> None:
    assert prof_analysis.module_stats(two, rank_list=[3], step_id=8, arrow=True).num_rows == 1


def test_a_profile_leaves_no_temporary_files(one: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with open_profile(one) as profile:
        profile.module_stats()
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []
    with pytest.raises(ZeroDivisionError), open_profile(one) as profile:
        profile.kernels()
        raise ZeroDivisionError
    assert list(temporary.iterdir()) == []
    with pytest.raises(InputError, match="there is no step 9"):
        open_profile(one, step_id=9)
    assert list(temporary.iterdir()) == []
    prof_analysis.module_stats(one)
    assert list(temporary.iterdir()) == []


def test_closing_twice_is_harmless(one: Path) -> None:
    profile = open_profile(one)
    profile.close()
    profile.close()


def test_the_repr_says_what_can_be_asked(tmp_path: Path) -> None:
    write_profile(tmp_path / "a<b_ascend_pt", OPS, RANGES, rank=4)
    write_profile(tmp_path / "c_ascend_pt", OPS, rank=None)
    (tmp_path / "d_ascend_pt").mkdir()
    with pytest.warns(ProfAnalysisWarning, match="is empty"), open_profile(tmp_path) as profile:
        lines = repr(profile).splitlines()
        assert lines[:3] == [
            f"Profile {tmp_path}: 2 of 3 ranks readable",
            f"  a<b_ascend_pt: rank 4, {', '.join(answered_without('counters', 'graph_calls'))}",
            f"  c_ascend_pt: no rank id, {', '.join(answered_without('modules', 'counters', 'marks', 'graph_calls'))}",
        ]
        assert lines[3].startswith(f"  d_ascend_pt: no rank id, {tmp_path / 'd_ascend_pt'}: ")
        html = profile._repr_html_()
        assert f"  a&lt;b_ascend_pt: rank 4, {', '.join(answered_without('counters', 'graph_calls'))}\n" in html
        assert "a<b" not in html


def test_the_repr_of_many_ranks_is_short(tmp_path: Path) -> None:
    for rank in range(23):
        (tmp_path / f"{rank}_ascend_pt").mkdir()
    with pytest.warns(ProfAnalysisWarning), open_profile(tmp_path) as profile:
        lines = repr(profile).splitlines()
    assert len(lines) == 1 + 20 + 1
    assert lines[-1] == "  and 3 more: see .ranks()"


def test_a_broken_rank_is_a_warning_and_a_failure_and_the_others_answer(two: Path) -> None:
    (broken,) = (two / "a_ascend_pt").rglob("*.db")
    broken.write_bytes(broken.read_bytes()[:4096])
    with pytest.warns(ProfAnalysisWarning) as warned, open_profile(two) as profile:
        assert profile.module_stats()["rank_id"].tolist() == [3, 3]
        assert profile.kernels()["rank_id"].tolist() == [3] * 5
        assert profile.ranks()["rank_id"].tolist() == [0, 3]
        assert len(profile.failures) == 1
        assert profile.failures[0].startswith(f"{broken}: ")
    assert [str(one.message) for one in warned] == profile.failures


def test_when_no_rank_can_be_read_the_error_names_the_file(two: Path) -> None:
    databases = sorted(two.rglob("*.db"))
    for database in databases:
        database.write_bytes(b"not a database, " * 100)
    with pytest.warns(ProfAnalysisWarning), open_profile(two) as profile:
        for ask in (profile.module_stats, profile.module_tree, profile.coverage, profile.kernels, profile.ops):
            with pytest.raises(InputError) as error:
                ask()
            assert str(error.value).startswith(f"{databases[0]}: ")
            assert str(error.value).endswith("(and 1 more ranks failed)")
        assert profile.ranks()["left_out"].notna().all()


def test_a_rank_without_module_ranges_beside_one_with_them_adds_no_rows_and_is_named(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, rank=0)
    write_profile(tmp_path / "b_ascend_pt", OPS, RANGES, rank=1)
    with open_profile(tmp_path) as profile:
        with pytest.warns(ProfAnalysisWarning, match="a_ascend_pt: no module ranges"):
            assert profile.module_stats()["rank_id"].tolist() == [1, 1]
        coverage = profile.sql(
            "SELECT rank_id, location, sum(kernel_duration_ns) FROM module.coverage GROUP BY ALL ORDER BY ALL"
        )
    assert coverage.values.tolist() == [
        [0, "inside modules", 0],
        [0, "linked to no op", 0],
        [0, "outside modules", 200],
        [1, "inside modules", 150],
        [1, "linked to no op", 0],
        [1, "outside modules", 50],
    ]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELEC 1", 'syntax error at or near "SELEC"'),
        ("", "one SELECT"),
        ("SELECT 1; SELECT 2", "one SELECT"),
        ("CREATE TABLE mine AS SELECT 1", "SELECT"),
        ("COPY (SELECT 1) TO '{}/copied.csv'", "SELECT"),
        ("INSERT INTO trace.op SELECT 1", "SELECT"),
        ("DROP VIEW trace.op", "SELECT"),
        ("ATTACH '{}/new.db'", "SELECT"),
        ("SET threads = 1", "SELECT"),
        ("SELECT 1; DROP VIEW trace.op", "SELECT"),
        ("SELECT nope FROM trace.op", "nope"),
        ("SELECT * FROM trace.nope", "there is no table trace.nope"),
        ("SELECT * FROM nope.op", "there is no table nope.op"),
        ("SELECT * FROM op", "op"),
        ("SELECT 'x'::INTEGER", "Could not convert"),
    ],
)
def test_sql_takes_one_select_and_says_what_is_wrong_in_one_line(
    shared: Profile, tmp_path: Path, query: str, said: str
) -> None:
    before = shared.ops()
    with pytest.raises(QueryError) as error:
        shared.sql(query.format(tmp_path))
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []
    pd.testing.assert_frame_equal(shared.ops(), before)


def test_sql_joins_tables_of_several_kinds(shared: Profile) -> None:
    found = shared.sql("""
        WITH busy AS (SELECT profile, op_id, sum(duration_ns) AS ns FROM module.kernel GROUP BY ALL)
        SELECT profile, name, ns FROM trace.op JOIN busy USING (profile, op_id) ORDER BY profile DESC, op.start_ns;
    """)
    expected = [("aten::mm", 140), ("aten::add", 10), ("aten::item", 50)]
    assert found.values.tolist() == [[f"{name}_ascend_pt", *row] for name in "ba" for row in expected]


def test_sql_may_call_what_the_sql_of_the_project_calls(shared: Profile) -> None:
    assert shared.rows("SELECT Shown_Time (sum(duration_ns)::BIGINT) AS time FROM module.kernel") == [{"time": "600 ns"}]


def test_a_sum_is_an_integer_as_long_as_64_bits_hold_it(shared: Profile) -> None:
    frame = shared.sql("SELECT sum(duration_ns) AS ns, sum(duration_ns) FILTER (false) AS nothing FROM module.kernel")
    assert frame.dtypes.astype(str).to_dict() == {"ns": "int64", "nothing": "Int64"}
    assert frame["ns"].tolist() == [600]
    large = shared.sql("SELECT sum(ns) AS ns FROM (VALUES (9223372036854775807), (1)) AS t (ns)", arrow=True)
    assert int(large["ns"][0].as_py()) == 2**63


def test_sql_does_not_read_the_variables_of_the_caller(shared: Profile) -> None:
    mine = pd.DataFrame({"a": [1]})
    with pytest.raises(QueryError, match="mine"):
        shared.sql("SELECT * FROM mine")
    assert len(mine) == 1


def test_table_gives_any_documented_table(shared: Profile) -> None:
    pd.testing.assert_frame_equal(shared.table("module.kernel"), shared.kernels())
    assert rows(shared.table("trace.step", arrow=True)) == of_both((7, 100, 125), (8, 125, 400))
    with pytest.raises(QueryError, match=r"there is no table module\.nope; `prof-analysis tables` lists"):
        shared.table("module.nope")


def test_step_id_keeps_the_kernels_whose_op_started_in_the_step(two: Path) -> None:
    with open_profile(two, step_id=7) as profile:
        assert rows(profile.module_stats(arrow=True)) == [
            ("a_ascend_pt", 0, "Net", "Layer", "aten::mm", "mm_kernel, hcom_allReduce_", 140, 140.0, 1, None, "aten::mm"),
            ("b_ascend_pt", 3, "Net", "Layer", "aten::mm", "mm_kernel, hcom_allReduce_", 140, 140.0, 1, None, "aten::mm"),
        ]
        assert rows(profile.sql("FROM module.coverage WHERE kernel_count > 0", arrow=True)) == [
            (name, rank, kind, "inside modules", None, 1, ns, 1.0, None)
            for name, rank in (("a_ascend_pt", 0), ("b_ascend_pt", 3))
            for kind, ns in (("compute", 40), ("communication", 100))
        ]
    with open_profile(two, step_id=8, rank_list=[3]) as profile:
        assert profile.kernels()["name"].tolist() == ["add_kernel", "copy_kernel"]


def test_an_unknown_step_names_those_there_are(two: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no step 9; the steps are 7, 8"):
        open_profile(two, step_id=9)
    write_profile(tmp_path / "none_ascend_pt", OPS, RANGES)
    with pytest.raises(InputError, match=r"there is no step 0; the steps are none: prof\.step\(\) was not called"):
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
        {"by": "instance"},
        [("Net[0]/Layer[0]", "Linear[0]", 200, 2), ("Net[0]/Layer[1]", "Linear[0]", 400, 2)],
    ),
    "depth 1": ({"depth": 1}, [("", "Net", 600, 4)]),
    "depth 2": ({"depth": 2}, [("Net", "Layer", 600, 4)]),
    "depth 3": ({"depth": 3}, [("Net/Layer", "Linear", 600, 4)]),
    "depth 9": ({"depth": 9}, [("Net/Layer", "Linear", 600, 4)]),
    "instances to a depth": ({"by": "instance", "depth": 2}, [("Net[0]", "Layer[0]", 200, 2), ("Net[0]", "Layer[1]", 400, 2)]),
}


@pytest.mark.parametrize(("options", "expected"), quick(MARKED.values(), 2, 4, 5, 12), ids=MARKED)
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


def test_the_one_line_takes_the_choice_of_modules(tmp_path: Path) -> None:
    frame = prof_analysis.module_stats(two_steps_of_two_layers(tmp_path / "a_ascend_pt"), by="instance", depth=1)
    assert frame["module"].tolist() == ["Net[0]"] * len(frame)


def test_a_source_that_the_profile_lacks_is_named(one: Path) -> None:
    with open_profile(one, module_source="nn.Module") as profile:
        with pytest.raises(InputError, match="no module ranges"):
            profile.module_stats()
        assert profile.coverage().query("location == 'inside modules'")["kernel_count"].sum() == 0


@pytest.mark.slow
def test_op_chain_names_the_ops_around_the_launching_op(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        [
            Op("ProfilerStep#3", 0, 500),
            Op("aten::linear", 110, 140),
            Op("aten::addmm", 120, 130, (Kernel("k", 1000, 1010),)),
            Op("aten::other_thread", 100, 200, tid=2),
        ],
        RANGES[:1],
    )
    with open_profile(tmp_path) as profile:
        stats = profile.module_stats()
    assert stats[["op_name", "op_chain"]].values.tolist() == [["aten::addmm", "aten::linear > aten::addmm"]]


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


@pytest.mark.slow
def test_replayed_graphs_are_a_reason_and_a_warning_with_the_remedy(one: Path) -> None:
    edit(next(one.rglob("*.db")), "UPDATE TASK SET modelId = 3 WHERE connectionId = -1")
    with open_profile(one) as profile:
        with pytest.warns(ProfAnalysisWarning) as warned:
            coverage = profile.coverage()
            profile.module_stats()
        assert [str(warning.message) for warning in warned] == [
            "a_ascend_pt: 33.3% of the kernel time was replayed from graphs that were captured before profiling began, "
            "so its ops and modules are unknown; start profiling before the engine captures its graphs"
        ]
        assert coverage.query("reason == 'graph replay'")[["location", "kernel_duration_ns"]].values.tolist() == [
            ["linked to no op", 100]
        ]
        assert profile.module_stats()["total_kernel_duration_ns"].sum() == 150


def test_rank_list_reads_only_these_ranks(two: Path) -> None:
    (other,) = (two / "a_ascend_pt").rglob("*.db")
    other.write_bytes(b"not a database, " * 100)
    with open_profile(two, rank_list=[3]) as profile:
        assert profile.ranks()["rank_id"].tolist() == [3]
        assert profile.kernels()["rank_id"].tolist() == [3] * 5
        assert profile.failures == []


def test_an_unknown_rank_names_those_there_are(two: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no rank 1, 7; the ranks are 0, 3"):
        open_profile(two, rank_list=[7, 0, 1])
    write_profile(tmp_path / "none_ascend_pt", OPS, RANGES, rank=None)
    with pytest.raises(InputError, match="there is no rank 0; the ranks are none has a number"):
        open_profile(tmp_path / "none_ascend_pt", rank_list=[0])


def test_progress_is_told_by_bytes_of_the_input(two: Path) -> None:
    sizes = sorted(database.stat().st_size for database in two.rglob("*.db"))
    told = []
    with open_profile(two, on_progress=lambda done, total: told.append((done, total))) as profile:
        profile.kernels()
        profile.kernels()
    assert [total for _, total in told] == [sum(sizes)] * 2
    assert told[0][0] in sizes
    assert told[1][0] == sum(sizes)


def test_what_has_no_time_is_set_aside_with_a_warning_and_the_rest_answers(one: Path) -> None:
    (database,) = one.rglob("*.db")
    edit(database, "UPDATE PYTORCH_API SET endNs = '100' WHERE startNs = '130'")
    with open_profile(one) as profile:
        with pytest.warns(ProfAnalysisWarning, match="a_ascend_pt: ops set aside because they end before they start: 1"):
            assert profile.module_stats()["op_name"].tolist() == ["aten::mm"]
        profile.module_tree()
        assert profile.warnings == ["a_ascend_pt: ops set aside because they end before they start: 1"]


def test_all_errors_are_of_one_family_and_the_class_is_public(one: Path) -> None:
    family = {InputError: ValueError, QueryError: ValueError, OutputError: OSError}
    assert {error: error.__bases__ for error in family} == {
        error: (ProfAnalysisError, builtin) for error, builtin in family.items()
    }
    with open_profile(one) as profile:
        assert isinstance(profile, Profile)
        with pytest.raises(InputError, match="export_type='xls': give db, text, excel, "):
            profile.export(one, "xls")
        with pytest.raises(InputError, match="analysis='modules': give module-stats"):
            profile.export(one, analysis="modules")
    assert [path.name for path in one.iterdir()] == ["a_ascend_pt"]


def test_a_database_without_texts_still_answers_times(tmp_path: Path) -> None:
    edit(
        write_profile(tmp_path / "a_ascend_pt", [Op("mm", 110, 120, (Kernel("k", 1000, 1040),))], RANGES),
        "DROP TABLE STRING_IDS",
    )
    with open_profile(tmp_path) as profile, pytest.warns(ProfAnalysisWarning, match="no STRING_IDS"):
        assert profile.kernels()["duration_ns"].tolist() == [40]


def test_a_frame_keeps_columns_of_equal_names_apart(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    with open_profile(tmp_path) as profile:
        assert profile.sql("SELECT 1 AS a, NULL::BIGINT AS a").iloc[0, 0] == 1


def test_other_integers_and_truth_values_stay_what_they_are_with_null(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    with open_profile(tmp_path) as profile:
        frame = profile.sql("FROM (VALUES (1::SMALLINT, 1::UBIGINT, true), (NULL, NULL, NULL)) AS t (s, u, b)")
    assert frame.dtypes.astype(str).tolist() == ["Int16", "UInt64", "boolean"]


def test_a_warning_points_at_the_line_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "a_ascend_pt").mkdir()
    with pytest.warns(ProfAnalysisWarning, match="is empty") as warned:
        open_profile(tmp_path).close()
    assert [one.filename for one in warned] == [__file__]


def test_a_closed_profile_says_so(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    with open_profile(tmp_path) as profile:
        pass
    with pytest.raises(ProfAnalysisError, match="closed"):
        profile.kernels()


def test_a_table_name_without_schema_is_an_unknown_table(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    with open_profile(tmp_path) as profile:
        for name in ("kernel", 'module.kernel"x', ""):
            with pytest.raises(QueryError, match="there is no table"):
                profile.table(name)


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


def test_one_domain_may_be_given_as_a_text(tmp_path: Path) -> None:
    ops = [Op("op", 10, 20, (Kernel("k", 200, 203),))]
    write_profile(tmp_path / "a_ascend_pt", ops, [Range("Net", 0, 100, domain="Custom")])
    with open_profile(tmp_path, module_domains="Custom") as profile:
        assert profile.module_stats()["module"].tolist() == ["Net"]
