"""Advice about communication in small inputs: what is won, by whom, and when a rule is silent."""

from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.planes import Task, add_tasks
from tests.helpers.says import says
from tests.helpers.simulated import Rank, data_parallel, pipeline
from tests.helpers.small_profile import Kernel, Launch, Op, Range, edit, write_profile

RULES = (
    "exposed_communication", "waiting", "small_messages", "byte_alignment", "retransmission", "slow_link", "slow_rank",
    "stage_imbalance", "pipeline_bubble", "expert_imbalance",
)  # fmt: skip
MIB = 2**20
FIGURES = ("title", "rank_id", "module", "kernel_type", "count", "time_ns", "win_ns", "kind")


def found(folder: Path, rule: str, **thresholds: float) -> list[dict[str, Any]]:
    """Return what a rule finds."""
    given = {f"{rule}.{name}": value for name, value in thresholds.items()}
    # Most tests ask several rules, or one with several thresholds.
    with open_profile(folder, thresholds=given, cache=folder.with_name(f"{folder.name}_store")) as profile:
        return profile.rows(f"FROM advice.{rule} ORDER BY win_ns DESC NULLS LAST, rank_id, kernel_type")


def figures(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in FIGURES) for row in rows]


def collective(type_: str, start: int, end: int) -> Kernel:
    return Kernel(type_, start, end, kind="communication", group="dp")


def write_two_collectives(folder: Path) -> Path:
    """An all-gather in a module, half of it beside a kernel, and an all-reduce outside beside a kernel, all but 1 ns."""
    ops = [
        Op("c10d::allgather", 120, 130, (collective("hcom_allGather_", 1000, 2000),)),
        Op("aten::mm", 140, 150, (Kernel("mm", 1500, 2000),)),
        Op("c10d::allreduce", 320, 330, (collective("hcom_allReduce_", 3000, 3201),)),
        Op("aten::mm", 340, 350, (Kernel("mm", 3000, 3200),)),
    ]
    return write_profile(folder / "0_ascend_pt", ops, [Range("Net", 100, 200)], steps=[(5, 50, 400)], rank=0)


@pytest.mark.slow
def test_communication_wins_what_no_kernel_runs_beside_and_covered_communication_wins_nothing(tmp_path: Path) -> None:
    database = write_two_collectives(tmp_path)
    tasks = [Task(0, "Notify_Wait", 1, 1000, 1400), Task(0, "Memcpy", 1, 1400, 1900, 1, "HCCS", MIB)]
    add_tasks(database, tasks)
    with open_profile(tmp_path) as profile:
        rows = profile.rows("FROM advice.exposed_communication ORDER BY win_ns DESC")
        (waiting,) = profile.rows("FROM advice.waiting")
    exposed, covered = says("does not cover communication"), says("covers this communication", "nothing to win")
    assert figures(rows) == [
        (exposed, 0, "Net", "hcom_allGather_", 1, 1000, 300, "upper bound"),
        (covered, 0, None, "hcom_allReduce_", 1, 201, 0, "upper bound"),
    ]
    assert [row["op"] for row in rows] == ["c10d::allgather", "c10d::allreduce"]
    for row, shown in zip(
        rows, (("500 ns (50.0%)", "200 ns waits", "250 ns transfers"), ("201 ns", "all but 1 ns")), strict=True
    ):
        assert all(figure in row["evidence"] for figure in shown), row["evidence"]
    assert [row["situation"] for row in rows] == ["in layers", "covered"]
    assert figures([waiting]) == [(says("wait for other ranks"), 0, None, None, 2, 200, 200, "upper bound")]
    for figure in ("501 ns", "200 ns (39.9%)", "250 ns", "1 of at least 2 ranks"):
        assert figure in waiting["evidence"]


@pytest.mark.slow
def test_communication_of_no_step_and_after_which_the_device_waits_for_the_host_wins_nothing(tmp_path: Path) -> None:
    """The kernel after the all-reduce of the step is launched when that has ended; the other all-reduce is of no step."""
    kernels = {
        100: Kernel("mm", 200, 300),
        120: collective("hcom_allReduce_", 300, 1000),
        5000: Kernel("mm", 5010, 5100),
        6000: collective("hcom_allReduce_", 6010, 6910),
    }
    ops = [Op("op", start, start + 10) for start in kernels]
    launches = [Launch(at + 1, at + 2, (kernel,), recorded_op=n) for n, (at, kernel) in enumerate(kernels.items())]
    write_profile(tmp_path / "0_ascend_pt", ops, steps=[(5, 50, 5500)], launches=launches, rank=0)
    (row,) = found(tmp_path, "exposed_communication")
    assert figures([row])[0][4:] == (1, 700, 0, "upper bound")
    assert row["evidence"] == says("0 can be won", "the device waits for the host")


@pytest.mark.slow
def test_a_rank_that_computes_longer_wins_what_the_others_wait_for_it(tmp_path: Path) -> None:
    data_parallel(tmp_path / "uneven", [[100_000, 110_000, 200_000], [104_000, 90_000, 200_000]])
    data_parallel(tmp_path / "even", [[100_000, 100_000, 100_000]] * 2)
    (row,) = found(tmp_path / "uneven", "slow_rank")
    title = says("rank makes the others wait", "computes longer")
    assert figures([row]) == [(title, 2, None, None, 2, 198_000, 198_000, "upper bound")]
    assert row["evidence"] == says(
        "others wait 99.0 us longer", "200.0 us of each step", "the others for 101.0 us", "last to 2 collectives",
        "in Net", "198.0 us more",
    )  # fmt: skip
    assert found(tmp_path / "even", "slow_rank") == []


@pytest.mark.slow
def test_rules_that_compare_ranks_are_silent_on_one_rank(tmp_path: Path) -> None:
    data_parallel(tmp_path, [[100_000], [104_000]])
    rules = ("slow_rank", "stage_imbalance", "slow_link", "expert_imbalance")
    with open_profile(tmp_path) as profile:
        build_at_once(profile, *(f"advice.{rule}" for rule in rules))
        assert [row for rule in rules for row in profile.rows(f"FROM advice.{rule}")] == []


@pytest.mark.slow
def test_of_an_uneven_pipeline_the_long_stage_wins_its_time_beyond_the_mean_and_no_rank_is_called_slow(tmp_path: Path) -> None:
    pipeline(tmp_path / "uneven", (10_000, 15_000))
    pipeline(tmp_path / "even", (10_000, 10_000))
    (row,) = found(tmp_path / "uneven", "stage_imbalance")
    title = says("pipeline stage", "computes longer")
    assert figures([row]) == [(title, 1, None, None, 2, 30_000, 30_000, "upper bound")]
    assert row["evidence"] == says(
        "stage 1", "180.0 us of each step", "2 stages", "150.0 us on average", "shortest for 120.0 us"
    )
    assert found(tmp_path / "uneven", "slow_rank") == []
    assert found(tmp_path / "even", "stage_imbalance") == []


@pytest.mark.slow
def test_sends_and_receives_between_stages_are_the_bubble_where_no_passes_are_marked(tmp_path: Path) -> None:
    pipeline(tmp_path, (10_000, 15_000))
    rows = found(tmp_path, "pipeline_bubble")
    assert [row["rank_id"] for row in rows] == [0, 1]
    with open_profile(tmp_path) as profile:
        p2p = "FROM communication.breakdown WHERE kind = 'p2p' GROUP BY rank_id ORDER BY rank_id"
        elapse = [row["ns"] for row in profile.rows(f"SELECT rank_id, sum(elapse_ns)::BIGINT AS ns {p2p}")]
        others = [row["count"] for row in profile.rows("FROM advice.exposed_communication")]
    assert [row["win_ns"] for row in rows] == elapse
    assert others == [1, 1]


def write_packets(folder: Path, packets: list[tuple[int, int]], link: str = "HCCS", operators: int = 2) -> None:
    """A rank with all-reduces of 10 us; the first one moves packets of a size in a time, on planes of their own."""
    kernels = [collective("hcom_allReduce_", 1000 + 20_000 * n, 11_000 + 20_000 * n) for n in range(operators)]
    ops = [Op("c10d::allreduce", 100 + 20 * n, 110 + 20 * n, (kernel,)) for n, kernel in enumerate(kernels)]
    database = write_profile(folder / "0_ascend_pt", ops, rank=0)
    add_tasks(database, [Task(0, "Memcpy", n, 1000, 1000 + ns, 1, link, size) for n, (size, ns) in enumerate(packets, 1)])


@pytest.mark.slow
def test_small_packets_win_what_they_would_take_less_at_the_rate_of_large_ones(tmp_path: Path) -> None:
    """Three packets of 1 MiB in 1 us each, one of 16 MiB in 4 us: a quarter of the rate, so 2.25 of 7 us."""
    write_packets(tmp_path, [(MIB, 1000), (MIB, 1000), (MIB, 1000), (16 * MIB, 4000)])
    (row,) = found(tmp_path, "small_messages")
    transferring = 1000 + 10_000  # Of the second operator no tasks are known, so it may transfer in all of its time.
    time, win = round(transferring * 3000 / 7000), round(transferring * 2250 / 7000)
    title = says("Small messages", "bandwidth")
    assert figures([row]) == [(title, 0, None, "hcom_allReduce_", 2, time, win, "upper bound")]
    assert row["evidence"] == says(
        "3 of 4 packets are small", "1,048,576 bytes", "1048.58 GB/s", "large ones up to 4194.30 GB/s", "2 operators", "4.7 us"
    )
    assert found(tmp_path, "small_messages", least_share=0.8) == []
    assert found(tmp_path, "small_messages", least_operators=3) == []
    (hint,) = found(tmp_path, "small_messages", least_bytes=17 * MIB)
    assert (hint["win_ns"], hint["kind"]) == (None, "hint")


@pytest.mark.slow
def test_packets_of_odd_sizes_are_compared_with_others_of_their_size(tmp_path: Path) -> None:
    """A packet of 1 MiB and 8 bytes takes 2 us where one of 1 MiB takes 1 us."""
    write_packets(tmp_path, [(MIB + 8, 2000), (MIB, 1000)], operators=1)
    (row,) = found(tmp_path, "byte_alignment")
    transferring = 2000
    time = round(transferring * 2000 / 3000)
    win = round(transferring * (2000 - 1000 * (MIB + 8) / MIB) / 3000)
    title = "Packets are not aligned"
    assert figures([row]) == [(title, 0, None, "hcom_allReduce_", 1, time, win, "upper bound")]


@pytest.mark.slow
def test_odd_sizes_that_cost_nothing_and_even_sizes_are_no_finding(tmp_path: Path) -> None:
    write_packets(tmp_path / "as fast", [(MIB + 8, 1000), (MIB, 1001)])
    write_packets(tmp_path / "even", [(MIB, 1000), (MIB, 2000)])
    assert found(tmp_path / "as fast", "byte_alignment") == []
    assert found(tmp_path / "even", "byte_alignment") == []


@pytest.mark.slow
def test_a_transfer_over_rdma_of_seconds_is_found_and_a_short_one_is_not(tmp_path: Path) -> None:
    long, short = 5_000_000_000, 1_000_000
    for name, time in (("long", long), ("short", short)):
        kernel = collective("hcom_allReduce_", 1000, 1000 + time)
        database = write_profile(tmp_path / name / "0_ascend_pt", [Op("c10d::allreduce", 100, 110, (kernel,))], rank=0)
        # What is posted, then two messages and two waits for the answer of the other rank.
        tasks = [Task(0, "RDMASend", 1, 1000, 1010, 1, "ROCE", MIB), Task(0, "RDMASend", 1, 1010, 1020, 1, "ROCE", 4)]
        tasks += [Task(0, "Notify_Wait", 1, 1020, 1030), Task(0, "RDMASend", 1, 1030, 1040, 1, "ROCE", 4)]
        add_tasks(database, [*tasks, Task(0, "Notify_Wait", 1, 1040, 1000 + time)])
    (row,) = found(tmp_path / "long", "retransmission")
    title = says("RDMA", "sent again")
    assert figures([row]) == [(title, 0, None, "hcom_allReduce_", 1, long, long, "upper bound")]
    assert found(tmp_path / "short", "retransmission") == []


@pytest.mark.slow
def test_a_slow_link_wins_its_time_beyond_the_usual_but_no_more_than_what_computing_does_not_cover(tmp_path: Path) -> None:
    """Four ranks send 1 MiB to each other in 100 us, rank 2 to rank 3 in 400 us; on all ranks computing covers half."""
    for rank in range(4):
        kernel = collective("hcom_allReduce_", 1000, 501_000)
        beside = Kernel("mm", 1000, 251_000)
        ops = [Op("c10d::allreduce", 100, 110, (kernel,)), Op("aten::mm", 120, 130, (beside,))]
        database = write_profile(tmp_path / f"r{rank}_ascend_pt", ops, rank=rank)
        times = {other: 400_000 if (rank, other) == (2, 3) else 100_000 for other in range(4) if other != rank}
        add_tasks(database, [Task(0, "Memcpy", to + 1, 1000, 1000 + ns, to, "HCCS", MIB) for to, ns in times.items()])
        edit(database, f"UPDATE COMMUNICATION_TASK_INFO SET srcRank = {rank}")
    (row,) = found(tmp_path, "slow_link")
    title = says("link is slower")
    assert figures([row]) == [(title, 2, None, None, 1, 300_000, 250_000, "upper bound")]
    assert row["evidence"] == says(
        "from rank 2 to rank 3 over HCCS", "2.6 GB/s", "other pairs 10.5 GB/s", "300.0 us of 400.0 us", "all but 250.0 us"
    )


@pytest.mark.slow
def test_ranks_without_kernels_and_hostile_names_break_no_rule(tmp_path: Path) -> None:
    ranks = [Rank(number, clock=10**6 * (number + 1)) for number in range(2)]
    for rank in ranks:
        rank.compute(100)
        rank.communicate("hcom_allReduce__\x1b]0;x\x07'{}'; DROP TABLE x", "g'{}", 500)
        rank.end_step()
        rank.write(tmp_path, {})
    with open_profile(tmp_path) as profile:
        build_at_once(profile, *(f"advice.{rule}" for rule in RULES))
        rows = {rule: profile.rows(f"FROM advice.{rule}") for rule in RULES}
        for row in chain.from_iterable(rows.values()):
            assert "DROP" not in row["sql"]
            profile.rows(row["sql"])
    assert rows["exposed_communication"]


@pytest.mark.slow
def test_waiting_counts_on_the_plane_that_waits_longest_while_the_master_plane_is_idle(tmp_path: Path) -> None:
    op = Op("c10d::allreduce", 320, 330, (collective("hcom_allReduce_", 3000, 4000),))
    database = write_profile(tmp_path / "0_ascend_pt", [op], rank=0)
    transfer = Task(0, "Memcpy", 1, 3900, 4000, 1, "HCCS", MIB, master=1)
    add_tasks(database, [transfer, Task(0, "Notify_Wait", 2, 3000, 3850, 2, master=0)])
    (row,) = found(tmp_path, "waiting")
    assert (row["time_ns"], row["win_ns"]) == (850, 850)
    (row,) = found(tmp_path, "exposed_communication")
    assert row["evidence"] == says("850 ns waits", "100 ns transfers", "50 ns does neither", "wait is no part of the win")
    assert (row["time_ns"], row["win_ns"]) == (1000, 150)


@pytest.mark.slow
def test_what_all_ranks_wait_alike_is_won_before_the_collective_and_the_rest_by_the_late_rank(tmp_path: Path) -> None:
    """Each rank comes 800 ns late to one of two collectives; 700 ns before each transfer all ranks wait alike."""
    waits = [(1500, 700), (700, 1500)]
    for rank, (first, second) in enumerate(waits):
        times = [(3000 - first, 3500), (9000 - second, 9500)]
        ops = [
            Op("c10d::allreduce", 320 + 20 * n, 330 + 20 * n, (collective("hcom_allReduce_", start, end),))
            for n, (start, end) in enumerate(times)
        ]
        database = write_profile(tmp_path / f"{rank}_ascend_pt", ops, rank=rank)
        tasks = []
        for n, (start, end) in enumerate(times):
            tasks += [Task(n, "Notify_Wait", 1, start, end - 500), Task(n, "Memcpy", 1, end - 500, end, 1, "HCCS", MIB)]
        add_tasks(database, tasks)
    title = says("does not cover communication")
    rows = found(tmp_path, "exposed_communication")
    assert figures(rows) == [(title, rank, None, "hcom_allReduce_", 2, 3200, 2400, "upper bound") for rank in (0, 1)]
    assert rows[0]["evidence"] == says("800 ns is for a rank that comes later", "no part of the win")
    rows = found(tmp_path, "waiting")
    title = says("wait for other ranks")
    assert figures(rows) == [(title, rank, None, None, 2, 2200, 800, "upper bound") for rank in (0, 1)]
    assert rows[0]["evidence"] == says("800 ns of it is for a rank that comes later", "the rest all ranks wait alike")
