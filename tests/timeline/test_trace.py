"""A trace for ui.perfetto.dev: its structure is what readers demand, and its sums are those of the tables."""

import gzip
import json
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import Result

from fixtures.generate import generate
from fixtures.shape import Shape
from prof_analysis import InputError, ProfAnalysisWarning, Profile, open_profile
from tests.helpers.places import SAMPLE
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, write_profile
from tests.helpers.timelines import events_of, ns, read

# Every way to share a device that the generator knows: threads, recomputation, several backwards of one forward.
HARD = Shape(
    forward_threads=2, recompute=True, double_backward=True, micro_batches=2, gradient_hooks=True, queue_threads=2, steps=2
)
MEMBERS = "STRUCT(ph VARCHAR, pid BIGINT, tid BIGINT, ts VARCHAR, dur VARCHAR, name VARCHAR, cat VARCHAR, args JSON)[]"
AS_TABLE = f"""
    CREATE TABLE event AS
    SELECT event.*, replace(event.ts, '.', '')::BIGINT AS ts_ns, replace(event.dur, '.', '')::BIGINT AS dur_ns
    FROM (
        SELECT unnest("traceEvents") AS event
        FROM read_json(
            ?,
            maximum_object_size = 100000000,
            columns = {{'traceEvents': '{MEMBERS}'}}
        )
    )
"""


def assert_is_well_formed(file: Path) -> None:
    """Readers show all of it: slices of a track are apart or inside each other, and in the order of time; so are counters."""
    read(file)
    starts: dict[tuple[int, int | str], list[int]] = defaultdict(list)
    for event in events_of(file):
        if event["ph"] in "XC":
            starts[event["pid"], event["tid"] if event["ph"] == "X" else event["name"]].append(ns(event["ts"]))
    for place, times in starts.items():
        assert times == sorted(times)
        assert times[0] >= 1000
        assert isinstance(place[1], int) or len(set(times)) == len(times)


def assert_sums_are_those_of_the_tables(profile: Profile, file: Path, name: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(AS_TABLE, [str(file)])

        def summed(query: str) -> dict[Any, Any]:
            return dict(connection.execute(query).fetchall())

        def of_tables(query: str) -> dict[Any, Any]:
            return {row["key"]: row["value"] for row in profile.rows(f"{query} AND profile = '{name}' GROUP BY 1")}

        kernels = "('compute', 'communication', 'copy', 'schedule')"
        path = "concat_ws('/', nullif(parent_module, ''), module)"
        modules = of_tables(f"SELECT {path} AS key, sum(duration_ns) AS value FROM module.cost WHERE true")
        own = "SELECT args->>'path', sum((args->>'own_kernel_ns')::BIGINT) FROM event WHERE cat = 'module' GROUP BY 1"
        assert {path: time for path, time in summed(own).items() if time} == modules
        by_module = f"SELECT args->>'module', sum(dur_ns) FROM event WHERE cat IN {kernels} GROUP BY 1"
        assert {path: time for path, time in summed(by_module).items() if path} == modules
        by_reason = f"SELECT args->>'no module', sum(dur_ns) FROM event WHERE cat IN {kernels} GROUP BY 1"
        outside = of_tables("SELECT reason AS key, sum(kernel_duration_ns) AS value FROM module.coverage WHERE true")
        assert {reason: time for reason, time in summed(by_reason).items() if reason} == {
            reason: time for reason, time in outside.items() if reason
        }
        idle = summed(
            "SELECT key, sum((args->>key)::BIGINT)"
            " FROM (SELECT args, unnest(json_keys(args)) AS key FROM event WHERE cat = 'idle')"
            " WHERE ends_with(key, ' (ns)') GROUP BY 1"
        )
        causes = of_tables("SELECT cause || ' (ns)' AS key, sum(duration_ns) AS value FROM free.gap_cause WHERE true")
        assert idle == causes
        assert summed("SELECT 1, sum(dur_ns) FROM event WHERE cat = 'idle'") == {1: sum(causes.values())}
        steps = connection.execute(
            "SELECT name, dur_ns, (args->>'computing_ns')::BIGINT, (args->>'free_ns')::BIGINT FROM event WHERE cat = 'step'"
        ).fetchall()
        assert steps == [
            tuple(row.values())
            for row in profile.rows(
                "SELECT 'step ' || step_id, stage_ns + bubble_ns, computing_ns, free_ns FROM step.time"
                f" WHERE profile = '{name}' AND step_id IS NOT NULL ORDER BY step_id"
            )
        ]


@pytest.mark.slow
def test_the_trace_of_the_sample_has_its_sums(tmp_path: Path) -> None:
    with open_profile(SAMPLE) as profile:
        files = profile.export(tmp_path, "trace")
        assert [file.name for file in files] == ["timeline_rank0.json.gz", "timeline_rank1.json.gz"]
        names = [row["profile"] for row in profile.rows("SELECT DISTINCT profile FROM step.time ORDER BY profile")]
        for file, name in zip(files, names, strict=True):
            assert_is_well_formed(file)
            assert_sums_are_those_of_the_tables(profile, file, name)
        first = files[0].read_bytes()
        assert profile.export(tmp_path, "trace", "free-time") == profile.export(tmp_path, "trace", "step-time") == files
        assert files[0].read_bytes() == first
        # The mean of the counter is the MFU of the rank, which counts whole ps of kernels of some ns.
        rate = profile.rows("SELECT mfu, elapsed_ns FROM mfu.rank")[0]
    used = 0
    rates = [(ns(one["ts"]), one["args"]["%"]) for one in events_of(files[0]) if one["name"] == "MFU"]
    for (start, percent), (end, _) in pairwise(rates):
        used += (end - start) * percent / 100
    assert used / rate["elapsed_ns"] == pytest.approx(rate["mfu"], rel=1e-4)
    assert rates[-1][1] == 0


@pytest.mark.slow
def test_slices_nest_whatever_shares_the_device(tmp_path: Path) -> None:
    generate(tmp_path, HARD, ranks=1, seed=3)
    with open_profile(tmp_path) as profile:
        (file,) = profile.export(tmp_path, "trace")
        (name,) = [row["profile"] for row in profile.rows("SELECT DISTINCT profile FROM step.time")]
        assert_is_well_formed(file)
        assert_sums_are_those_of_the_tables(profile, file, name)


def test_a_time_is_exact_to_the_ns_and_a_call_is_inside_the_call_around_it(tmp_path: Path) -> None:
    """Perfetto multiplies numbers by 1000 and cuts them off, 1.001 to 1000: so times are texts."""
    first = 1767225600000013679
    kernels = (Kernel("a", first, first + 1001), Kernel("b", first + 1500, first + 123456789))
    ranges = [Range("Net", first - 100, first - 10), Range("Layer", first - 90, first - 20)]
    write_profile(tmp_path, [Op("op", first - 80, first - 30, kernels)], ranges)
    with open_profile(tmp_path) as profile:
        (file,) = profile.export(tmp_path, "trace")
    assert file.name == "timeline_rank0.json.gz"
    with gzip.open(file, "rt") as opened:
        trace = json.load(opened)
    assert list(trace) == ["traceEvents", "baseTimeNanoseconds"]
    assert trace["baseTimeNanoseconds"] == 1767225600000012000
    slices = [
        (one["name"], one["ts"], one["dur"], one["args"]) for one in trace["traceEvents"] if one["ph"] == "X" and "args" in one
    ]
    idle = {"between queue and device (ns)": 499, "before": "a", "after": "b"}
    in_net = {"kernels": 2, "kernel_ns": 123456290, "own_kernel_ns": 0}
    parts = {"communication_not_overlapped_ns": 0, "overlapped_ns": 0, "free_ns": 499}
    whole = {"computing_ns": 123456290, **parts}
    of_layer = {"module": "Net/Layer", "op": "op", "type": "Mul", "input shapes": "16,16;16,16"}
    assert slices == [
        ("all", "1.679", "123456.789", whole),
        ("between queue and device", "2.680", "0.499", idle),
        ("Net", "1.679", "123456.789", {"path": "Net", **in_net}),
        ("Layer", "1.679", "123456.789", {"path": "Net/Layer", **in_net, "own_kernel_ns": 123456290}),
        ("a", "1.679", "1.001", of_layer),
        ("b", "3.179", "123455.289", of_layer),
    ]  # fmt: skip


def test_hostile_names_are_text(tmp_path: Path) -> None:
    """Some readers refuse a whole file for a control character, even escaped, or a surrogate."""
    name = "</script>\"\\,\n\x00\x1b[31m\x7f\u202e\u2028 \U0001f600 {}[]'$"
    write_profile(
        tmp_path, [Op(name, 20, 30, (Kernel(name, 1000, 1010), Kernel("k" * 40_000, 1020, 1030)))], [Range(name, 0, 99)]
    )
    with open_profile(tmp_path) as profile:
        (file,) = profile.export(tmp_path, "trace")
    shown = "</script>\"\\,\ufffd\ufffd\ufffd[31m\ufffd\ufffd\ufffd \U0001f600 {}[]'$"
    assert "\\u" not in gzip.decompress(file.read_bytes()).decode()
    events = events_of(file)
    assert_is_well_formed(file)
    of_kernels = [(one["name"], one["args"]["module"], one["args"]["op"]) for one in events if one.get("cat") == "compute"]
    assert of_kernels == [(shown, shown, shown), ("k" * 999 + "…", shown, shown)]
    assert [one["name"] for one in events if one.get("cat") == "module"] == [shown]


@pytest.mark.slow
def test_ranks_have_a_file_and_a_process_each_and_one_base(tmp_path: Path) -> None:
    """Files that are opened together show each rank by itself, in the clock of its host. One without kernels has no file."""
    for folder, rank, start in (
        ("b_ascend_pt", 1, 5_000_000),
        ("a_ascend_pt", 0, 2_000_000),
        ("c d_ascend_pt", None, 9_000_000),
    ):
        write_profile(tmp_path / folder, [Op("op", 20, 30, (Kernel("k", start, start + 10),))], rank=rank)
    write_profile(tmp_path / "e_ascend_pt", [Op("op", 20, 30)], rank=3)
    with open_profile(tmp_path) as profile, pytest.warns(ProfAnalysisWarning, match="no kernels"):
        files = profile.export(tmp_path, "trace", "step-time")
    assert says("e_ascend_pt: ", "no kernels", "no timeline") in profile.warnings
    found = {}
    for file in files:
        (process,) = [one["args"]["name"] for one in events_of(file) if one["name"] == "process_name"]
        (kernel,) = [one for one in events_of(file) if one["name"] == "k"]
        found[file.name] = process, kernel["pid"], kernel["ts"]
    assert found == {
        "timeline_rank0.json.gz": ("rank 0, a_ascend_pt", 1, "2001.000"),
        "timeline_rank1.json.gz": ("rank 1, b_ascend_pt", 2, "5001.000"),
        "timeline_c_d_ascend_pt.json.gz": ("c d_ascend_pt", 3, "9001.000"),
    }


@pytest.mark.slow
def test_several_runs_have_files_of_their_own(tmp_path: Path) -> None:
    for run in ("one", "two"):
        write_profile(tmp_path / run / "a_ascend_pt", [Op("op", 20, 30, (Kernel("k", 2000, 2010),))])
    with Profile({"base": tmp_path / "one", "new": tmp_path / "two"}) as profile:
        files = profile.export(tmp_path, "trace", "step-time")
    assert [file.name for file in files] == ["timeline_base_rank0.json.gz", "timeline_new_rank0.json.gz"]
    for file in files:
        assert [one["ts"] for one in events_of(file) if one["name"] == "k"] == ["3.000"]


def test_other_answers_have_no_timeline(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path, [Op("op", 20, 30, (Kernel("k", 2000, 2010),))])
    result = command("kernel-stats", tmp_path, "--export-type", "trace")
    assert (result.exit_code, result.stdout) == (2, "")
    words = ("export_type='trace': ", "does not write it", "module-stats, step-time, free-time do")
    assert result.stderr == says("error", "kernel-stats", *words)
    who = says(*words).pattern
    with open_profile(tmp_path) as profile:
        with pytest.raises(InputError, match=who):
            profile.export(analysis="mfu", export_type="trace")
        with pytest.raises(InputError, match=who):
            profile.export_table("kernels.statistic", tmp_path, "trace")


@pytest.mark.slow
def test_the_command_names_the_trace_that_it_wrote(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", [Op("op", 20, 30, (Kernel("k", 2000, 2010),))])
    result = command("free-time", tmp_path, "--export-type", "trace", "-o", tmp_path / "out", "--json")
    file = tmp_path / "out" / "cluster_analysis_output" / "timeline_rank0.json.gz"
    assert json.loads(result.stdout)["files"] == [str(file)]
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.slow
def test_perfetto_reads_the_same_sums(tmp_path: Path) -> None:
    shell = shutil.which("trace_processor_shell") or shutil.which("trace_processor")
    if shell is None:
        pytest.skip("Perfetto's trace_processor_shell is not on the PATH")
    generate(tmp_path, HARD, ranks=1, seed=3)
    with open_profile(tmp_path) as profile:
        (file,) = profile.export(tmp_path, "trace")
        kernels = profile.rows("SELECT count(*) AS kernels, sum(duration_ns)::BIGINT AS duration_ns FROM timeline.kernel")[0]
        calls = profile.rows("SELECT count(*) AS calls FROM timeline.module_call")[0]
    found = read(file)
    of_host = Counter(one.track for one in found.slices if "thread" in one.track)
    steps_of_arrows = sum(len(arrow) - 1 for arrow in found.arrows.values())
    query = tmp_path / "query.sql"
    query.write_text(
        "SELECT (SELECT sum(value) FROM stats WHERE severity = 'error'), count(*), sum(dur),"
        " (SELECT count(*) FROM slice WHERE category = 'module'), (SELECT count(*) FROM flow),"
        " (SELECT count(*) FROM slice JOIN thread_track ON thread_track.id = slice.track_id JOIN thread USING (utid)"
        " WHERE thread.name LIKE '%thread%') FROM slice"
        " WHERE category IN ('compute', 'communication', 'copy', 'schedule');\n"
    )
    done = subprocess.run([shell, "-q", str(query), str(file)], capture_output=True, text=True, check=True, timeout=60)
    values = done.stdout.strip().splitlines()[-1].split(",")
    expected = [0, kernels["kernels"], kernels["duration_ns"], calls["calls"], steps_of_arrows, of_host.total()]
    assert [int(value) for value in values] == expected


@pytest.mark.slow
def test_a_timeline_needs_no_modules(tmp_path: Path) -> None:
    """The command of modules writes it as the others do, and says what it lacks."""
    write_profile(tmp_path / "0_ascend_pt", [Op("aten::a", 1_000, 1_010, (Kernel("k", 2_000, 2_030),))])
    with open_profile(tmp_path, cache="none") as profile:
        with pytest.warns(ProfAnalysisWarning, match="no rank can answer this: no module ranges"):
            (file,) = profile.export(tmp_path / "out", "trace", "module-stats")
        for export_type in ("csv", "speedscope", "collapsed"):
            with pytest.raises(InputError, match="no rank can answer this"):
                profile.export(tmp_path / "out", export_type, "module-stats")
    assert [event["name"] for event in events_of(file) if event["ph"] == "X" and event["cat"] == "compute"] == ["k"]
