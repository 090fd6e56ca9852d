"""Two runs of a server: passes of one phase and number of requests pair, and other work is named."""

from pathlib import Path
from statistics import median_low

from prof_analysis import compare
from tests.helpers.frames import arrow_of
from tests.helpers.serving import Rank, serve, write


def medians(rank: Rank) -> dict[tuple[str, int], int]:
    times: dict[tuple[str, int], list[int]] = {}
    for one in rank.passes:
        times.setdefault((one.phase, one.prefill + one.decode), []).append(one.span[1] - one.span[0])
    return {key: median_low(values) for key, values in times.items()}


def test_passes_of_one_phase_and_size_are_compared(tmp_path: Path, kept: Path) -> None:
    base, new, other = serve(14)[0], serve(14, slower=3)[0], serve(14, seed=7)[1]
    for name, rank in (("base", base), ("new", new), ("other", other)):
        rank.number = 0
        write(rank, tmp_path / name, "kineto")
    with compare(tmp_path / "base", tmp_path / "new", cache=kept) as comparison:
        rows = arrow_of(comparison.passes()).to_pylist()
        assert {(row["phase"], row["request_count"]): row["base_median_ns"] for row in rows} == medians(base)
        assert {(row["phase"], row["request_count"]): row["new_median_ns"] for row in rows} == medians(new)
        assert comparison.rows("SELECT is_same_work, sentence FROM runs.pass_work") == [
            {"is_same_work": True, "sentence": None}
        ]
    with compare(tmp_path / "base", tmp_path / "other", cache=kept) as comparison:
        (work,) = comparison.rows("FROM runs.pass_work")
        assert not work["is_same_work"]
        assert "did not serve the same work" in work["sentence"]
