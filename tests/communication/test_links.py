"""Links between ranks: what each carries, in ranks of the whole job, and which are slower than others."""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from itertools import permutations
from pathlib import Path

import pytest
from typer.testing import Result

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import open_profile
from prof_analysis.common.errors import InputError
from tests.communication.test_group import group, write
from tests.helpers.frames import arrow_of
from tests.helpers.planes import Task, add_tasks
from tests.helpers.small_profile import Kernel, edit, write_profile

MIB = 2**20


def write_mesh(folder: Path, ranks: int, times: Mapping[tuple[int, int], int], size: int = MIB) -> None:
    """Ranks of which each sends one packet to each other one, in 100 us unless `times` says otherwise, and one to itself."""
    for rank in range(ranks):
        kernel = Kernel("hcom_allReduce_", 1000, 2_000_000, kind="communication", group="mesh")
        database = write_profile(folder / f"r{rank}_ascend_pt", unlinked=[kernel], rank=rank)
        tasks = [Task(0, "Memcpy", 0, 1000, 1100, rank, "ON_CHIP", size)]
        for other in sorted({*range(ranks)} - {rank}):
            end = 1000 + times.get((rank, other), 100_000)
            tasks.append(Task(0, "Memcpy", other + 1, 1000, end, other, "HCCS", size))
        add_tasks(database, tasks)
        edit(database, f"UPDATE COMMUNICATION_TASK_INFO SET srcRank = {rank}")


def test_a_slow_link_is_found_beside_others_with_what_it_costs(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_mesh(tmp_path, 4, {(2, 3): 400_000, (1, 0): 104_000})
    with open_profile(tmp_path) as profile:
        slow, *others = arrow_of(profile.links()).to_pylist()
        packets = arrow_of(profile.links("packet")).to_pylist()
        kinds = arrow_of(profile.links("kind")).to_pylist()
    pair = {
        "profile": "r2_ascend_pt", "rank_id": 2, "source_global_rank": 2, "destination_global_rank": 3, "link": "HCCS",
        "is_within_device": False, "group_name": None, "source_rank": None, "destination_rank": None, "groups": "mesh",
        "transfer_count": 1, "size_bytes": MIB, "duration_ns": 400_000, "bandwidth_gb_s": MIB / 400_000,
        "usual_gb_s": 10.48576, "usual_share": 0.25, "lost_ns": 300_000, "is_slow": True, "is_opposite_recorded": True,
        "origin": "planes",
    }  # fmt: skip
    assert slow == pair
    between = [(row["source_global_rank"], row["destination_global_rank"], row["lost_ns"], row["is_slow"]) for row in others]
    as_usual = sorted({*permutations(range(4), 2)} - {(2, 3), (1, 0)})
    assert between == [
        (1, 0, 4000, False),
        *((*ranks, 0, False) for ranks in as_usual),
        *((rank, rank, None, None) for rank in range(4)),
    ]
    assert packets[0] == {
        "profile": "r2_ascend_pt", "rank_id": 2, "kind": "collective", "type": "allreduce", "group_name": "mesh",
        "group_label": None, "source_rank": 2, "destination_rank": 3, "source_global_rank": 2, "destination_global_rank": 3,
        "link": "HCCS", "is_within_device": False, "packet_bytes": MIB, "transfer_count": 1, "size_bytes": MIB,
        "duration_ns": 400_000, "bandwidth_gb_s": MIB / 400_000, "usual_gb_s": 10.48576, "expected_ns": 100_000,
        "lost_ns": 300_000, "origin": "planes",
    }  # fmt: skip
    assert kinds == [
        {
            "link": "HCCS", "is_within_device": False, "pair_count": 12, "size_bytes": 12 * MIB, "duration_ns": 1_504_000,
            "min_gb_s": MIB / 400_000, "median_gb_s": 10.48576, "max_gb_s": 10.48576, "one_sided_count": 0, "judged_count": 12,
            "slow_count": 1, "slow_lost_ns": 300_000, "least_share": 0.25,
        },
        {
            "link": "ON_CHIP", "is_within_device": True, "pair_count": 4, "size_bytes": 4 * MIB, "duration_ns": 400,
            "min_gb_s": MIB / 100, "median_gb_s": MIB / 100, "max_gb_s": MIB / 100, "one_sided_count": 0, "judged_count": 0,
            "slow_count": 0, "slow_lost_ns": None, "least_share": None,
        },
    ]  # fmt: skip
    said = command("links", "-d", tmp_path).stdout
    assert "1 pair of 12 slower than others: 300.00 us lost; 4 ranks" in said


@pytest.mark.parametrize(
    ("ranks", "times", "size"),
    [
        pytest.param(4, {(2, 3): 400_000}, 65_535, id="packets whose time is the latency"),
        pytest.param(2, {(0, 1): 400_000}, MIB, id="too few pairs to say what is usual"),
    ],
)
def test_no_link_is_judged_where_nothing_says_what_is_usual(
    tmp_path: Path, command: Callable[..., Result], ranks: int, times: dict[tuple[int, int], int], size: int
) -> None:
    write_mesh(tmp_path, ranks, times, size)
    with open_profile(tmp_path) as profile:
        assert profile.rows("SELECT DISTINCT is_slow, lost_ns, usual_gb_s FROM across.link") == [
            {"is_slow": None, "lost_ns": None, "usual_gb_s": None}
        ]
    assert "whether a link is slow is not known" in command("links", "-d", tmp_path).stdout


def test_links_that_differ_as_much_as_chance_are_not_slow(tmp_path: Path) -> None:
    pairs = list(permutations(range(4), 2))
    write_mesh(tmp_path, 4, {pair: 100_000 + 15_000 * number for number, pair in enumerate(pairs)})
    with open_profile(tmp_path) as profile:
        found = profile.rows("SELECT min(usual_share) AS least, count(*) FILTER (is_slow) AS slow FROM across.link")
    assert found == [{"least": pytest.approx(190 / 265), "slow": 0}]


def test_sizes_of_packets_have_rows_of_their_own_and_add_up_to_communication_time(tmp_path: Path) -> None:
    kernel = Kernel("hcom_send_", 1000, 9000, kind="communication", group="pp")
    database = write_profile(tmp_path / "a_ascend_pt", unlinked=[kernel], rank=0)
    sizes = [0, 1, 2, 3, 4, 65_535, 65_536, 131_071, 2**40]
    add_tasks(database, [Task(0, "Memcpy", 1, 1000 + n, 1002 + n, 1, "HCCS", size) for n, size in enumerate(sizes)])
    with open_profile(tmp_path) as profile:
        packets = profile.rows("SELECT packet_bytes, transfer_count FROM across.link_packet ORDER BY packet_bytes")
        (moved,) = profile.rows(
            "SELECT sum(size_bytes)::BIGINT AS size, sum(duration_ns)::BIGINT AS ns FROM across.link_packet"
        )
        (whole,) = profile.rows("SELECT size_bytes AS size, transfer_ns AS ns FROM communication.time")
        (pair,) = profile.rows("SELECT size_bytes AS size, duration_ns AS ns FROM across.link")
    counts = {0: 1, 1: 1, 2: 2, 4: 1, 32_768: 1, 65_536: 2, 2**40: 1}
    assert [tuple(row.values()) for row in packets] == list(counts.items())
    assert moved == whole == pair == {"size": sum(sizes), "ns": 18}


@pytest.mark.slow
def test_text_exports_have_the_same_links(tmp_path: Path) -> None:
    generate(tmp_path, Shape(steps=1, layers=1), ranks=3, seed=2, style=TextStyle(exports="both"))
    found = {}
    for source in ("db", "text"):
        with open_profile(tmp_path, source=source) as profile:
            # Times in the text have fractions of a ns.
            found[source] = profile.rows(
                "SELECT source_global_rank, destination_global_rank, type, link, packet_bytes, transfer_count, size_bytes,"
                " usual_gb_s IS NULL AS is_unusual FROM across.link_packet ORDER BY ALL"
            )
    assert found["db"] == found["text"]
    pairs = {(row["source_global_rank"], row["destination_global_rank"]) for row in found["db"]}
    assert pairs == {(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 0)}, "a ring"


def test_ranks_of_a_group_are_known_by_its_record_else_by_the_ranks_that_have_transfers_in_it(tmp_path: Path) -> None:
    write(tmp_path / "recorded", {"pp": group("pp", 2, 6)}, [("pp", 0, 1), ("pp", 0, 7), ("other", 0, 1)])
    with open_profile(tmp_path / "recorded") as profile:
        recorded = profile.rows(
            "SELECT source_global_rank, destination_global_rank, group_name, source_rank, destination_rank, groups, "
            "transfer_count, is_opposite_recorded, origin FROM across.link"
        )
    assert [tuple(row.values()) for row in recorded] == [
        (2, 6, None, None, None, "pp", None, False, "profiler"),
        (2, None, "pp", 0, 7, "pp", None, None, "profiler"),
        (2, None, "other", 0, 1, "other", None, None, "profiler"),
    ]
    # Without a record: rank 5 is the first of the group, since its own transfers begin there.
    for rank, place in ((5, 0), (9, 1)):
        one = tmp_path / "seen" / str(rank)
        write(one, {}, [("other", place, 1 - place), ("12", place, 1 - place)], rank=rank)
    with open_profile(tmp_path / "seen") as profile:
        seen = profile.rows(
            "SELECT source_global_rank, destination_global_rank, group_name, is_opposite_recorded FROM across.link ORDER BY ALL"
        )
    assert [tuple(row.values()) for row in seen] == [
        (5, 9, None, True),
        (5, None, "12", None),  # Only a number, which means another group on each rank.
        (9, 5, None, True),
        (9, None, "12", None),
    ]


def test_without_transfers_the_command_says_what_to_switch_on(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", unlinked=[Kernel("hcom_allReduce_", 1, 2, kind="communication")])
    with (
        open_profile(tmp_path) as profile,
        pytest.raises(InputError, match=r"no transfers between ranks; collect .* Level1"),
    ):
        profile.links()


def test_groups_are_listed_with_members_and_their_time_be_they_used_or_not(tmp_path: Path) -> None:
    groups = {
        "group_name_0": group("default_group", 0, 1, 2),
        "group_name_19": group("pp", 2, 6),
        "unused": group("tp", 2),
    }
    for rank in (2, 6):
        write(tmp_path / str(rank), groups, [], rank=rank)
    with closing(sqlite3.connect(next((tmp_path / "6").rglob("ascend_pytorch*.db")))) as opened, opened:
        # The database names a group by a hash of the name under which the profile lists it.
        opened.execute("INSERT INTO STRING_IDS VALUES (9900, '3985310405473756128')")
        opened.execute("UPDATE COMMUNICATION_OP SET groupName = 9900, endNs = startNs + 50")
    with open_profile(tmp_path) as profile:
        found = profile.rows("FROM across.communication_group")
        (total,) = profile.rows("SELECT sum(op_count) AS ops, sum(total_ns) AS ns FROM across.communication_group")
        (whole,) = profile.rows("SELECT op_count AS ops, total_ns AS ns FROM across.communication_total")
    shown = [tuple(row.values()) for row in found]
    assert shown == [
        ("3985310405473756128", "pp", 2, "2, 6", 1, "6", 1, 50),
        (None, None, None, None, 1, "2", 1, 1),
        ("group_name_0", "default_group", 3, "0, 1, 2", 2, "2, 6", 0, 0),
        ("group_name_19", "pp", 2, "2, 6", 1, "2", 0, 0),
        ("unused", "tp", 1, "2", 2, "2, 6", 0, 0),
    ]
    assert total == whole


def test_links_of_a_real_pipeline_are_as_fast_as_each_other(realdata: Path) -> None:
    with open_profile(realdata / "qwen3_0.6b_pp2dp2_910b") as profile:
        kinds = arrow_of(profile.links("kind")).to_pylist()
        pp = profile.rows(
            "SELECT source_global_rank, destination_global_rank FROM across.link_packet"
            " WHERE group_label = 'pp' AND NOT is_within_device ORDER BY ALL"
        )
        # The total of communication_matrix.json, in which the profiler itself worked it out.
        (reported,) = profile.rows("SELECT sum(size_bytes) AS size, sum(duration_ns) AS ns FROM trace.reported_link")
    assert [tuple(row.values()) for row in pp] == [(0, 2), (1, 3), (2, 0), (3, 1)]
    assert sum(row["size_bytes"] for row in kinds) == reported["size"]
    assert sum(row["duration_ns"] for row in kinds) == reported["ns"]
    between = next(row for row in kinds if not row["is_within_device"])
    assert (between["link"], between["pair_count"], between["judged_count"], between["slow_count"]) == ("HCCS", 12, 8, 0)
    assert between["least_share"] > 0.99
