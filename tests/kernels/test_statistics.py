"""Kernel, op and communication statistics: every column of small profiles, sums that add up, and answers worked out by hand."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
import pytest
from typer.testing import Result

from fixtures.generate import generate
from fixtures.shape import Shape
from prof_analysis import ProfAnalysisWarning, Profile, open_profile
from prof_analysis.common.version import SCHEMA_VERSION
from tests.helpers.answers import NO_OPERATORS
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

Rows = list[tuple[Any, ...]]
STEPS = ((7, 0, 300), (8, 300, 900))


def rows(table: pa.Table) -> Rows:
    return [tuple(row.values()) for row in table.to_pylist()]


def nearest_rank(times: list[int], percent: int) -> int:
    """The time at the place ceil(n * percent / 100) of all in order."""
    return sorted(times)[-(-len(times) * percent // 100) - 1]


def times_of(times: list[int], share: float) -> tuple[Any, ...]:
    """What a statistic says of these times: from how many to the share."""
    median, p95 = nearest_rank(times, 50), nearest_rank(times, 95)
    return (len(times), sum(times), sum(times) / len(times), median, p95, min(times), max(times), share)


def reduce(start: int, end: int, group: str | None, **more: Any) -> Kernel:
    return Kernel("hcom_allReduce_", start, end, "communication", group=group, **more)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks: 20 matmuls each of 1 to 20 ns and of 101 to 120 ns; additions; communication in two groups."""
    folder = tmp_path_factory.mktemp("statistics") / "two"
    for rank in (0, 1):
        first = 1 + 100 * rank
        matmuls = [Kernel(f"mm_{n}", 1000, 1000 + first + n) for n in range(20)]
        adds = [Kernel("add", 2000, 2060, type="Add", core="AI_VECTOR_CORE")] * (1 + rank)
        reduces = [reduce(3000, 3500, "tp"), reduce(4000, 4100, "dp"), reduce(5000, 5300, "dp")]
        ops = [
            Op("aten::mm", 100, 200, (*matmuls, *adds), input_shapes="2,3;3,4"),
            Op("aten::add", 400, 410, (Kernel("schedule", 6000, 6007, "schedule"), *reduces)),
        ]
        unlinked = [Kernel("lost", 7000, 7005, type="Add", core="AI_VECTOR_CORE")]
        write_profile(folder / f"{rank}_ascend_pt", ops, steps=STEPS, unlinked=unlinked, rank=rank)
    return folder


@pytest.fixture(scope="module")
def both(two: Path) -> Iterator[Profile]:
    with open_profile(two) as profile:
        yield profile


def test_kernel_stats_in_every_column(both: Profile) -> None:
    found = arrow_of(both.kernel_stats())
    assert found.column_names == [
        *("profile", "rank_id", "kind", "type", "core", "kernel_count", "total_ns", "mean_ns", "median_ns", "p95_ns"),
        *("min_ns", "max_ns", "share", "type_from"),
    ]
    assert rows(found) == [
        ("0_ascend_pt", 0, "communication", "hcom_allReduce_", None, 3, 900, 300.0, 300, 500, 100, 500, 1.0, "profile"),
        ("0_ascend_pt", 0, "compute", "Mul", "AI_CORE", 20, 210, 10.5, 10, 19, 1, 20, 210 / 275, "profile"),
        ("0_ascend_pt", 0, "compute", "Add", "AI_VECTOR_CORE", 2, 65, 32.5, 5, 60, 5, 60, 65 / 275, "profile"),
        ("0_ascend_pt", 0, "schedule", "schedule", "AI_CPU", 1, 7, 7.0, 7, 7, 7, 7, 1.0, "profile"),
        ("1_ascend_pt", 1, "compute", "Mul", "AI_CORE", 20, 2210, 110.5, 110, 119, 101, 120, 2210 / 2335, "profile"),
        ("1_ascend_pt", 1, "communication", "hcom_allReduce_", None, 3, 900, 300.0, 300, 500, 100, 500, 1.0, "profile"),
        ("1_ascend_pt", 1, "compute", "Add", "AI_VECTOR_CORE", 3, 125, 125 / 3, 60, 60, 5, 60, 125 / 2335, "profile"),
        ("1_ascend_pt", 1, "schedule", "schedule", "AI_CPU", 1, 7, 7.0, 7, 7, 7, 7, 1.0, "profile"),
    ]
    assert both.warnings == []


def test_kernel_stats_over_all_ranks_are_exact(both: Profile) -> None:
    matmuls = [*range(1, 21), *range(101, 121)]
    found = arrow_of(both.kernel_stats(across_ranks=True))
    assert found.column_names[:3] == ["kind", "type", "core"]
    assert rows(found) == [
        ("compute", "Mul", "AI_CORE", *times_of(matmuls, 2420 / 2610), "profile"),
        ("communication", "hcom_allReduce_", None, *times_of([100, 300, 500] * 2, 1.0), "profile"),
        ("compute", "Add", "AI_VECTOR_CORE", *times_of([60, 5, 60, 60, 5], 190 / 2610), "profile"),
        ("schedule", "schedule", "AI_CPU", *times_of([7, 7], 1.0), "profile"),
    ]


@pytest.mark.slow
def test_a_step_counts_the_kernels_of_its_ops(two: Path) -> None:
    with open_profile(two, step_id=8, rank_list=[1]) as profile:
        kernels = arrow_of(profile.kernel_stats()).to_pylist()
        assert [(row["kind"], row["kernel_count"]) for row in kernels] == [("communication", 3), ("schedule", 1)]
        assert [(row["name"], row["calls"]) for row in arrow_of(profile.op_stats()).to_pylist()] == [("aten::add", 1)]
        assert [row["op_count"] for row in arrow_of(profile.communication_stats()).to_pylist()] == [1, 2]
    with open_profile(two, step_id=7) as profile:
        kernels = arrow_of(profile.kernel_stats(across_ranks=True)).to_pylist()
        assert [(row["type"], row["kernel_count"]) for row in kernels] == [("Mul", 40), ("Add", 3)]
        with pytest.warns(ProfAnalysisWarning, match=r"no communication operators in step 7$"):
            assert len(profile.communication_stats()) == 0


STATISTIC = (
    *("kind", "type", "core", "kernel_count", "total_ns", "mean_ns", "median_ns", "p95_ns", "min_ns", "max_ns", "share"),
    "type_from",
)
REPORTED = """Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)
0,MatMulV3,AI_CORE,3,30.5,5,10.167,20,75
0,Add,AI_VECTOR_CORE,2,10.001,,5.001,6,25
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["op_statistic.csv", "op_statistic_20240101000000.csv"])
def test_op_statistic_alone_answers_with_what_it_has(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(REPORTED, encoding="utf-8")
    expected = [
        ("compute", "MatMulV3", "AI_CORE", 3, 30_500, 30_500 / 3, None, None, 5_000, 20_000, 30_500 / 40_501, "profile"),
        ("compute", "Add", "AI_VECTOR_CORE", 2, 10_001, 10_001 / 2, None, None, None, 6_000, 10_001 / 40_501, "profile"),
    ]
    with pytest.warns(ProfAnalysisWarning, match="median and p95 are not known"), open_profile(tmp_path / name) as profile:
        for table in ("kernels.statistic", "across.kernel_statistic"):
            rows = profile.rows(f"SELECT {', '.join(STATISTIC)} FROM {table}")
            assert [tuple(row.values()) for row in rows] == expected
        kinds = profile.rows("FROM across.kernel_kind")
        assert [(row["kind"], row["kernel_count"], row["total_ns"]) for row in kinds] == [("compute", 5, 40_501)]
        profile.prepare("kernel-stats")
        assert [one for one in profile.warnings if "missing" in one] == [], "there is nothing to compare it with"


NAMED = {
    "aclnnMm_MatMulCommon_MatMulV2": "MatMulV2",
    "aclnnMm_MatMulCommon_MemSet": "MemSet",
    "trans_TransData_12": "TransData",
    "Conv2DBackpropFilter9_MemSet": "MemSet",
    "Conv2D18": "Conv2D",
    "SwiGlu": "SwiGlu",
    "ReduceSum47": None,  # a ReduceSumD
    "Conv2DBackpropInput79": None,  # a Conv2DBackpropInputD
    "MatMulV3_ND_bf16": None,
    "_triton_rope": None,
}


def test_a_type_that_was_not_collected_is_that_of_the_name_where_it_is_certain(
    tmp_path: Path, command: Callable[..., Result]
) -> None:
    kernels = [Kernel(name, 0, 10, type=None) for name in NAMED]
    kernels.append(Kernel("hcom_allReduce_", 0, 10, "communication", type=None))
    kernels.append(Kernel("aclnnAdd_AddAiCore_Add", 0, 10, type="Add"))
    folder = tmp_path / "a_ascend_pt"
    write_profile(folder, unlinked=kernels)
    config = {"config": {"common_config": {}, "experimental_config": {"_profiler_level": "Level0"}}}
    (folder / "profiler_info_0.json").write_text(json.dumps(config), encoding="utf-8")
    with open_profile(tmp_path) as profile:
        found = profile.sql("SELECT name, type, type_from FROM trace.kernel", arrow=True).to_pylist()
        expected = {name: (type_, type_ and "name") for name, type_ in NAMED.items()}
        expected["hcom_allReduce__904_10_1"] = ("hcom_allReduce_", "name")
        expected["aclnnAdd_AddAiCore_Add"] = ("Add", "profile")
        assert {row["name"]: (row["type"], row["type_from"]) for row in found} == expected
    result = command("kernel-stats", "-d", tmp_path)
    assert says("54.5% of the compute time", "types are not recorded", "from the names") in result.stdout.splitlines()
    assert result.stderr == says(
        "warning: a_ascend_pt: 36.4% of the compute time", "unknown type", "by core only", "Level0", "collect with Level1"
    )


def test_communication_stats_in_every_column(both: Profile) -> None:
    found = arrow_of(both.communication_stats())
    assert found.column_names == [
        *("profile", "rank_id", "type", "group_name", "op_count", "total_ns", "mean_ns", "median_ns", "p95_ns", "min_ns"),
        *("max_ns", "share", "origin", "group_label", "group_size", "size_bytes", "algorithm_gb_s", "bus_gb_s"),
    ]
    unknown = (None,) * 5
    assert rows(found) == [
        (f"{rank}_ascend_pt", rank, "hcom_allReduce_", group, *times_of(times, sum(times) / 900), "kernels", *unknown)
        for rank in (0, 1)
        for group, times in (("tp", [500]), ("dp", [100, 300]))
    ]
    assert rows(arrow_of(both.communication_stats(across_ranks=True))) == [
        ("hcom_allReduce_", "tp", *times_of([500, 500], 1000 / 1800), *unknown),
        ("hcom_allReduce_", "dp", *times_of([100, 300, 100, 300], 800 / 1800), *unknown),
    ]


def test_without_types_the_name_tells_the_type_of_communication(tmp_path: Path) -> None:
    unlinked = [
        reduce(0, 4, None, type=None),
        reduce(0, 2, "tp", type=None),
        Kernel("hcom_send_", 0, 3, "communication", type=None),
        Kernel("strange", 0, 1, "communication", type=None),
    ]
    database = write_profile(tmp_path / "a_ascend_pt", unlinked=unlinked)
    edit(database, "UPDATE STRING_IDS SET value = 'a-name_1_2' WHERE value LIKE 'strange_%'")
    with open_profile(tmp_path) as profile:
        found = arrow_of(profile.communication_stats())
    assert [row[2:6] for row in rows(found)] == [
        ("hcom_allReduce_", None, 1, 4),
        ("hcom_send_", None, 1, 3),
        ("hcom_allReduce_", "tp", 1, 2),
        (None, None, 1, 1),
    ]


# linear calls itself, which counts once in its totals; add ends after linear, which it starts in, so it is beside it; the other
# thread is by itself.
NESTED = (
    Op("step", 0, 1000, input_shapes=""),
    Op("linear", 100, 500, (Kernel("k1", 0, 5),), input_shapes="2,3"),
    Op("linear", 150, 450, (Kernel("k2", 10, 17),), input_shapes="2,3"),
    Op("mm", 200, 300, (Kernel("k3", 20, 31), Kernel("k4", 40, 42)), input_shapes="2,3"),
    Op("add", 480, 620, (Kernel("k5", 50, 53),)),
    Op("mm", 700, 700, input_shapes="4,4"),
    Op("mm", 400, 430, (Kernel("k6", 60, 61),), tid=2, input_shapes="4,4"),
)
OF_NESTED = [
    ("mm", "2,3", 1, 100, 100, 2, 13, 13, 13 / 29, None),
    ("linear", "2,3", 2, 300, 400, 2, 12, 25, 12 / 29, None),
    ("add", None, 1, 140, 140, 1, 3, 3, 3 / 29, None),
    ("mm", "4,4", 2, 30, 30, 1, 1, 1, 1 / 29, None),
    ("step", None, 1, 480, 1000, 0, 0, 28, 0.0, None),
]


@pytest.mark.slow
def test_op_stats_in_every_column(tmp_path: Path) -> None:
    for rank in (0, 1):
        unlinked = [Kernel("lost", 900, 910)]
        write_profile(tmp_path / f"{rank}_ascend_pt", NESTED, unlinked=unlinked, rank=rank)
    with open_profile(tmp_path) as profile:
        found = arrow_of(profile.op_stats())
        assert found.column_names == [
            *("profile", "rank_id", "name", "input_shapes", "calls", "host_self_ns", "host_total_ns", "kernel_count"),
            *("device_self_ns", "device_total_ns", "share", "launches"),
        ]
        assert rows(found) == [(f"{rank}_ascend_pt", rank, *row) for rank in (0, 1) for row in OF_NESTED]
        doubled = [(*row[:2], *(2 * value for value in row[2:8]), *row[8:]) for row in OF_NESTED]
        assert rows(arrow_of(profile.op_stats(across_ranks=True))) == doubled


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Profile]:
    """Two ranks of training with lost links, several threads, recomputation and gradient hooks."""
    folder = tmp_path_factory.mktemp("hard")
    shape = Shape(forward_threads=2, relaunch=True, recompute=True, gradient_hooks=True, lost_link_every=7)
    generate(folder, shape, ranks=2, seed=3)
    with open_profile(folder) as profile:
        yield profile


def grouped(table: pa.Table, keys: tuple[str, ...], value: str) -> dict[tuple[Any, ...], list[int]]:
    groups = defaultdict(list)
    for row in table.to_pylist():
        groups[tuple(row[key] for key in keys)].append(row[value])
    return groups


@pytest.mark.parametrize("across_ranks", [False, True])
@pytest.mark.slow
def test_statistics_are_those_of_the_kernels_themselves(hard: Profile, across_ranks: bool) -> None:
    rank = () if across_ranks else ("profile",)
    kernels = hard.sql(
        "SELECT kernel.*, end_ns - start_ns AS duration_ns, group_name FROM trace.kernel "
        "LEFT JOIN trace.communication USING (profile, kernel_id)",
        arrow=True,
    )

    def expected(table: pa.Table, keys: tuple[str, ...], of: tuple[str, ...]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
        alike = {key: sum(times) for key, times in grouped(table, of, "duration_ns").items()}
        places = [(*rank, *keys).index(name) for name in of]
        return {
            key: times_of(times, sum(times) / alike[tuple(key[place] for place in places)])
            for key, times in grouped(table, (*rank, *keys), "duration_ns").items()
        }

    def found(table: pa.Table, keys: int) -> dict[tuple[Any, ...], tuple[Any, ...]]:
        length = len(rank) + keys
        wanted = [name for name in table.column_names if name != "rank_id"]
        return {row[:length]: row[length : length + 8] for row in rows(table.select(wanted))}

    statistic = arrow_of(hard.kernel_stats(across_ranks=across_ranks))
    assert found(statistic, 3) == expected(kernels, ("kind", "type", "core"), (*rank, "kind"))
    communication = kernels.filter(pyarrow.compute.equal(kernels["kind"], "communication"))
    statistic = arrow_of(hard.communication_stats(across_ranks=across_ranks))
    assert found(statistic, 2) == expected(communication, ("type", "group_name"), rank)


@pytest.mark.slow
def test_all_statistics_add_up_to_all_kernel_time_and_all_host_time(hard: Profile) -> None:
    by_kind = "SELECT profile, kind, sum({}) AS ns FROM {} GROUP BY ALL ORDER BY ALL"
    coverage = rows(hard.sql(by_kind.format("kernel_duration_ns", "module.coverage"), arrow=True))
    assert rows(hard.sql(by_kind.format("total_ns", "kernels.statistic"), arrow=True)) == coverage
    assert rows(hard.sql("SELECT profile, kind, sum(total_ns) AS ns FROM (SELECT *, 'communication' AS kind"
                         " FROM communication.statistic) GROUP BY ALL ORDER BY ALL", arrow=True)) == [
        row for row in coverage if row[1] == "communication"
    ]  # fmt: skip
    linked = (
        "SELECT profile, sum(kernel_duration_ns) AS ns FROM module.coverage WHERE location <> 'linked to no op' GROUP BY ALL"
    )
    of_ops = "SELECT profile, sum(device_self_ns) AS ns FROM op.statistic GROUP BY ALL"
    assert rows(hard.sql(f"{of_ops} ORDER BY ALL", arrow=True)) == rows(hard.sql(f"{linked} ORDER BY ALL", arrow=True))
    ops = hard.sql(
        "SELECT profile, tid, start_ns, end_ns FROM trace.op WHERE name NOT LIKE 'ProfilerStep#%' ORDER BY ALL", arrow=True
    )
    busy: dict[str, int] = defaultdict(int)
    ends: dict[tuple[str, int], int] = defaultdict(int)
    for profile, tid, start, end in rows(ops):
        busy[profile] += max(0, end - max(start, ends[profile, tid]))
        ends[profile, tid] = max(end, ends[profile, tid])
    host = hard.sql("SELECT profile, sum(host_self_ns) AS ns FROM op.statistic GROUP BY ALL", arrow=True)
    assert dict(rows(host)) == busy


STATISTICS = {
    "kernel-stats": ("KernelStatistic", "kernel_stats"),
    "op-stats": ("OpStatistic", "op_stats"),
    "communication-stats": ("CommunicationStatistic", "communication_stats"),
}
COLUMNS = {
    "kernel-stats": [
        *(
            "kind",
            "type",
            "core",
            "kernel_count",
            "total_ns",
            "mean_ns",
            "median_ns",
            "p95_ns",
            "min_ns",
            "max_ns",
            "share",
            "type_from",
        )
    ],
    "op-stats": [
        *(
            "name",
            "input_shapes",
            "calls",
            "host_self_ns",
            "host_total_ns",
            "kernel_count",
            "device_self_ns",
            "device_total_ns",
        ),
        *("share", "launches"),
    ],
    "communication-stats": [
        *("type", "group_name", "op_count", "total_ns", "mean_ns", "median_ns", "p95_ns", "min_ns", "max_ns", "share")
    ],
}

OF_BYTES = ["group_label", "group_size", "size_bytes", "algorithm_gb_s", "bus_gb_s"]


@pytest.mark.parametrize("analysis", quick(STATISTICS, 0))
def test_a_statistic_is_exported_per_rank_and_over_all_ranks(both: Profile, tmp_path: Path, analysis: str) -> None:
    name, method = STATISTICS[analysis]
    ask: Callable[..., pa.Table] = getattr(both, method)
    per_rank, all_ranks = arrow_of(ask()), arrow_of(ask(across_ranks=True))
    (database,) = both.export(tmp_path, analysis=analysis)
    parquet = both.export(tmp_path, "parquet", analysis)
    books = both.export(tmp_path, "text", analysis)
    with closing(sqlite3.connect(database)) as reader:
        found = reader.execute(f"SELECT * FROM {name} ORDER BY rowid")
        of_rank = (["origin"], OF_BYTES) if analysis == "communication-stats" else ([], [])
        of_columns = [*COLUMNS[analysis], *of_rank[0], *of_rank[1]]
        assert [column[0] for column in found.description] == ["profile", "rank_id", *of_columns]
        assert found.fetchall() == rows(per_rank)
        found = reader.execute(f"SELECT * FROM {name}AllRanks ORDER BY rowid")
        assert [column[0] for column in found.description] == [*COLUMNS[analysis], *of_rank[1]]
        assert found.fetchall() == rows(all_ranks)
        tables = {row[0] for row in reader.execute("SELECT name FROM sqlite_master")}
    more = ["CommunicationGroup"] if analysis == "communication-stats" else []
    assert tables == {name, f"{name}AllRanks", "ProfileRank", "Provenance", *more}
    file = name.replace("Statistic", "_statistic").lower()
    assert [path.name for path in parquet[:2]] == [f"{file}.parquet", f"{file}_all_ranks.parquet"]
    assert [pyarrow.parquet.read_table(path).to_pylist() for path in parquet[:2]] == [
        per_rank.to_pylist(),
        all_ranks.to_pylist(),
    ]
    assert [str(book.relative_to(database.parent)) for book in books] == [f"{name}/{file}.xlsx"]
    workbook = openpyxl.load_workbook(books[0])
    assert workbook.sheetnames[:3] == ["About", name, f"{name}AllRanks"]
    sheet = workbook[name]
    assert sheet.freeze_panes == "C2"
    assert sheet.auto_filter.ref is not None
    *cells, total = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
    assert total[0] == "Total"
    # A workbook holds 16 digits of a fraction.
    assert cells == [
        [float(f"{value:.16g}") if isinstance(value, float) else value for value in row[1:]] for row in rows(per_rank)
    ]


def only_unlinked(folder: Path, rank: int = 0) -> Path:
    return write_profile(folder, unlinked=[Kernel("k", 0, 10)], rank=rank)


def test_what_no_rank_can_answer_is_an_error_with_its_reason(tmp_path: Path, command: Callable[..., Result]) -> None:
    edit(only_unlinked(tmp_path / "no_ops" / "a_ascend_pt"), "DROP TABLE PYTORCH_API")
    write_profile(tmp_path / "no_kernels" / "a_ascend_pt", [Op("aten::mm", 0, 10)], [Range("Net", 0, 20)])
    for words, reason in {
        ("op-stats", "no_ops"): "no PYTORCH_API (",
        ("communication-stats", "no_ops"): NO_OPERATORS,
        ("kernel-stats", "no_kernels"): "no kernels",
    }.items():
        result = command(words[0], "-d", tmp_path / words[1])
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert result.stderr.startswith(f"error: {tmp_path / words[1]}: no rank can answer this: {reason}")
    assert not list(tmp_path.rglob("cluster_analysis_output"))


@pytest.mark.slow
def test_a_rank_that_cannot_answer_beside_one_that_can_is_named(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", unlinked=[reduce(0, 4, "tp")])
    unable = only_unlinked(tmp_path / "b_ascend_pt", rank=1)
    result = command("communication-stats", "-d", tmp_path)
    assert (result.exit_code, result.stderr) == (0, f"warning: b_ascend_pt: {NO_OPERATORS}\n")
    unable.write_bytes(b"x" * 500)
    result = command("communication-stats", "-d", tmp_path)
    assert result.exit_code == 1
    assert result.stderr.startswith("failed: ")


SCREENS = {
    "kernel-stats": """
type               total  share of kind  kernels    mean  median     p95     min     max  core     kind
Mul              2.42 us          92.7%       40   60 ns   20 ns  118 ns    1 ns  120 ns  AI_CORE  compute
hcom_allReduce_  1.80 us         100.0%        6  300 ns  300 ns  500 ns  100 ns  500 ns  -        communication

compute 2.61 us in 45 kernels; communication 1.80 us in 6 kernels; schedule 14 ns in 2 kernels; 2 ranks
""",
    "op-stats": """
op         input shapes  device self  device total  share of ops  calls  kernels  host self  host total  launches
aten::mm   2,3;3,4           2.60 us       2.60 us         58.9%      2       43     200 ns      200 ns  -
aten::add  -                 1.81 us       1.81 us         41.1%      2        8      20 ns       20 ns  -

4 calls took 220 ns on the host and launched 51 kernels of 4.41 us; 0.2% of all kernel time is linked to no op; 2 ranks
""",
    "communication-stats": """
type             group    total  share of communication  operators    mean  median     p95     min     max
hcom_allReduce_  tp     1.00 us                   55.6%          2  500 ns  500 ns  500 ns  500 ns  500 ns
hcom_allReduce_  dp      800 ns                   44.4%          4  200 ns  100 ns  300 ns  100 ns  300 ns

communication 1.80 us in 6 operators of 2 groups; 2 ranks
""",
}


@pytest.mark.parametrize("analysis", quick(SCREENS, 1))
def test_the_summary_shows_the_heaviest_rows_over_all_ranks(
    two: Path, tmp_path: Path, command: Callable[..., Result], analysis: str
) -> None:
    result = command(analysis, "-d", two, "-o", tmp_path, "--top", "2")
    assert (result.exit_code, result.stderr) == (0, "")
    written = f"\nwrote {tmp_path / 'cluster_analysis_output' / 'cluster_analysis.db'}\n"
    assert [line.split() for line in result.stdout.splitlines()] == [
        line.split() for line in (SCREENS[analysis].removeprefix("\n") + written).splitlines()
    ]


def test_statistics_as_json(two: Path, tmp_path: Path, command: Callable[..., Result]) -> None:
    answer = json.loads(command("op_stats", "-d", two, "-o", tmp_path, "--top", "1", "--rank_list", "0", "--json").stdout)
    assert answer == {
        "schema_version": SCHEMA_VERSION,
        "command": "op-stats",
        "status": "done",
        "files": [str(tmp_path / "cluster_analysis_output" / "cluster_analysis.db")],
        "summary": {
            "ranks": 1,
            "rows": 2,
            "calls": 2,
            "host_self_ns": 110,
            "kernel_count": 25,
            "device_self_ns": 1177,
            "all_kernels_ns": 1182,
            "rows_left_out": 0,
            "left_out_ns": 0,
            "heaviest_ops": [
                {
                    "name": "aten::add",
                    "input_shapes": None,
                    "calls": 1,
                    "host_self_ns": 10,
                    "host_total_ns": 10,
                    "kernel_count": 4,
                    "device_self_ns": 907,
                    "device_total_ns": 907,
                    "share": 907 / 1177,
                    "launches": None,
                }
            ],
        },
        "warnings": [],
        "failures": [],
    }
