"""Links between ranks: what each carries, in ranks of the whole job, and which are slower than others."""

from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path

import pytest
from typer.testing import Result

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import open_profile
from prof_analysis.analyses.answer import Sentences
from prof_analysis.analyses.answers.links import links
from prof_analysis.common.errors import InputError
from tests.helpers.asking import build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.planes import Task, add_tasks
from tests.helpers.says import says
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


@pytest.mark.slow
def test_a_slow_link_is_found_beside_others_with_what_it_costs(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_mesh(tmp_path, 3, {(2, 0): 400_000, (1, 0): 104_000})
    with open_profile(tmp_path, cache=tmp_path / "store") as profile:
        build_at_once(profile, "links")
        slow, *others = arrow_of(profile.links()).to_pylist()
        packets = arrow_of(profile.links("packet")).to_pylist()
        kinds = arrow_of(profile.links("kind")).to_pylist()
    pair = {
        "profile": "r2_ascend_pt", "rank_id": 2, "source_global_rank": 2, "destination_global_rank": 0, "link": "HCCS",
        "is_within_device": False, "group_name": None, "source_rank": None, "destination_rank": None, "groups": "mesh",
        "transfer_count": 1, "size_bytes": MIB, "duration_ns": 400_000, "bandwidth_gb_s": MIB / 400_000,
        "usual_gb_s": 10.48576, "usual_share": 0.25, "lost_ns": 300_000, "is_slow": True, "is_opposite_recorded": True,
        "origin": "planes",
    }  # fmt: skip
    assert slow == pair
    between = [(row["source_global_rank"], row["destination_global_rank"], row["lost_ns"], row["is_slow"]) for row in others]
    as_usual = sorted({*permutations(range(3), 2)} - {(2, 0), (1, 0)})
    assert between == [
        (1, 0, 4000, False),
        *((*ranks, 0, False) for ranks in as_usual),
        *((rank, rank, None, None) for rank in range(3)),
    ]
    assert packets[0] == {
        "profile": "r2_ascend_pt", "rank_id": 2, "kind": "collective", "type": "allreduce", "group_name": "mesh",
        "group_label": None, "source_rank": 2, "destination_rank": 0, "source_global_rank": 2, "destination_global_rank": 0,
        "link": "HCCS", "is_within_device": False, "packet_bytes": MIB, "transfer_count": 1, "size_bytes": MIB,
        "duration_ns": 400_000, "bandwidth_gb_s": MIB / 400_000, "usual_gb_s": 10.48576, "expected_ns": 100_000,
        "lost_ns": 300_000, "origin": "planes",
    }  # fmt: skip
    assert kinds == [
        {
            "link": "HCCS", "is_within_device": False, "pair_count": 6, "size_bytes": 6 * MIB, "duration_ns": 904_000,
            "min_gb_s": MIB / 400_000, "median_gb_s": 10.48576, "max_gb_s": 10.48576, "one_sided_count": 0, "judged_count": 6,
            "slow_count": 1, "slow_lost_ns": 300_000, "least_share": 0.25,
        },
        {
            "link": "ON_CHIP", "is_within_device": True, "pair_count": 3, "size_bytes": 3 * MIB, "duration_ns": 300,
            "min_gb_s": MIB / 100, "median_gb_s": MIB / 100, "max_gb_s": MIB / 100, "one_sided_count": 0, "judged_count": 0,
            "slow_count": 0, "slow_lost_ns": None, "least_share": None,
        },
    ]  # fmt: skip
    said = command("links", "-d", tmp_path, "--cache", tmp_path / "store").stdout
    assert says("1 pair of 6", "300.00 us lost", "3 ranks") in said.splitlines()


def test_the_sentence_says_how_slow_the_slowest_link_is_where_none_is_slow(tmp_path: Path) -> None:
    write_mesh(tmp_path, 3, {(2, 0): 125_000})
    with open_profile(tmp_path, cache="none") as profile:
        _, (*_, sentences) = links(profile, 1)
    assert isinstance(sentences, Sentences)
    assert "no link is slow: each has at least 80.0% of the usual bandwidth; 3 ranks" in sentences.lines


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


def test_without_transfers_the_command_says_what_to_switch_on(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", unlinked=[Kernel("hcom_allReduce_", 1, 2, kind="communication")])
    with (
        open_profile(tmp_path) as profile,
        pytest.raises(InputError, match=r"no transfers between ranks; collect .* Level1"),
    ):
        profile.links()


@pytest.mark.slow
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
