"""The picture of a pipeline has each pass where the table has it."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from prof_analysis.common.errors import InputError
from tests.pipeline.test_pipeline import write_pipeline

pytest.importorskip("plotly")


def test_passes_lie_where_the_table_has_them_and_stages_below_each_other(tmp_path: Path) -> None:
    write_pipeline(tmp_path)
    with open_profile(tmp_path) as profile:
        figure = profile.plot.pipeline()
        table = profile.rows("SELECT pipeline_stage, kind, start_ns, duration_ns, micro_batch FROM pipeline.pass ORDER BY ALL")
        with pytest.raises(InputError, match="no passes in step 7"):
            profile.plot.pipeline(step=7)
    assert figure.layout.title.subtitle.text == "2 ranks; numbers are micro-batches", "what is in no step names none"
    assert list(figure.layout.yaxis.ticktext) == ["stage 0, rank 0", "stage 1, rank 1"]
    drawn = sorted(
        (place, bar.name, 1000 + data[0], data[1], int(number))
        for bar in figure.data
        if bar.name != "send or receive"
        for place, data, number in zip(bar.y, bar.customdata, bar.text, strict=True)
    )
    assert drawn == [tuple(row.values()) for row in table]
    (p2p,) = (bar for bar in figure.data if bar.name == "send or receive")
    # The receive that waits for the first pass ends where this begins.
    assert sorted((place, data[0], data[1]) for place, data in zip(p2p.y, p2p.customdata, strict=True)) == [
        (0, 100, 10), (0, 210, 190), (1, 0, 110), (1, 700, 30)
    ]  # fmt: skip


@pytest.mark.slow
def test_ranks_whose_clocks_differ_are_drawn_from_their_own_first_pass(tmp_path: Path) -> None:
    write_pipeline(tmp_path)
    with open_profile(tmp_path) as profile:
        rows = profile.rows("FROM pipeline.pass")
    from prof_analysis.pictures.figures.pipeline import pipeline

    later = [{**row, **{name: row[name] + row["rank_id"] * 10**9 for name in ("start_ns", "end_ns")}} for row in rows]
    figure = pipeline(later, step_id=3)
    assert min(min(bar.base) for bar in figure.data) == 0
    assert max(max(bar.base) for bar in figure.data) < 0.001
    subtitle = figure.layout.title.subtitle.text
    assert subtitle.startswith("step 3; 2 ranks; numbers")
    assert "each rank from its own first pass" in subtitle
