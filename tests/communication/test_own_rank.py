"""The own rank in the whole job is known where the files name it, also where its groups are not recorded."""

import pytest

from prof_analysis.engine.rows_of import rows_of


@pytest.mark.parametrize("rank", [2, None])
def test_without_its_group_a_link_names_the_own_rank_only(rank: int | None) -> None:
    between = {"type": "send", "group_name": "8", "source_rank": 0, "link": "HCCS", "size_bytes": 1, "duration_ns": 1}
    given = {"trace.reported_link": [{**between, "destination_rank": peer} for peer in (1, 0)]}
    found = rows_of("communication.link", given, {"rank_id": rank})
    assert {row["destination_rank"]: (row["source_global_rank"], row["destination_global_rank"]) for row in found} == {
        0: (rank, rank),
        1: (rank, None),
    }


def test_a_send_in_a_group_of_two_goes_to_the_other_one_of_them() -> None:
    given: dict[str, list[dict[str, object]]] = {
        "communication.breakdown": [
            {"name": group, "kind": "p2p", "operation": "send", "group_name": group, "elapse_ns": 5}
            for group in ("pair", "three", "unknown")
        ],
        "communication.member": [
            {"group_name": group, "position": position, "global_rank": rank}
            for group, ranks in {"pair": (4, 6), "three": (2, 6, 8)}.items()
            for position, rank in enumerate(ranks)
        ],
    }
    found = rows_of("communication.p2p", given, {"rank_id": 6})
    columns = ("own_rank", "peer_rank", "own_global_rank", "peer_global_rank")
    assert {row["group_name"]: tuple(row[column] for column in columns) for row in found} == {
        "pair": (1, 0, 6, 4),
        "three": (1, None, 6, None),
        "unknown": (None, None, 6, None),
    }
