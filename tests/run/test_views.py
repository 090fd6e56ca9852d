"""Views over the files of ranks: the rows are the same however many ranks there are."""

from pathlib import Path

import duckdb
import pytest

from prof_analysis.engine.database import lent
from prof_analysis.run.cache.store import RankStore
from prof_analysis.run.views import Views
from prof_analysis.sources.rank import Rank

TABLE = "step.time"


def write_ranks(folder: Path, count: int, rows: int = 1) -> dict[Rank, RankStore]:
    stores = {}
    for number in range(count):
        rank = Rank(f"{number:02}_ascend_pt", folder, source="ascend_db", rank_id=number)
        store = RankStore(folder / rank.profile, rank, {})
        store.folder.mkdir(parents=True)
        duckdb.execute(
            f"COPY (SELECT '{rank.profile}' AS profile, {number} AS rank_id, uuid()::VARCHAR AS text FROM range({rows})) "
            f"TO '{store.file(TABLE)}' (FORMAT parquet)"
        )
        stores[rank] = store
    return stores


@pytest.mark.parametrize(("count", "rows", "is_read_once"), [(15, 1, False), (16, 1, True), (16, 40_000, False)])
def test_many_small_files_are_read_once(tmp_path: Path, count: int, rows: int, is_read_once: bool) -> None:
    stores = write_ranks(tmp_path, count, rows)
    question = f"SELECT profile, rank_id, count(*) FROM {TABLE} GROUP BY ALL ORDER BY ALL"
    threads = "SELECT current_setting('threads')"
    with lent() as connection:
        before = connection.execute(threads).fetchall()
        Views(connection, ("",), lambda: False).show_ranks(TABLE, stores)
        assert connection.execute(question).fetchall() == [(rank.profile, rank.rank_id, rows) for rank in stores]
        assert connection.execute(threads).fetchall() == before
        for store in stores.values():
            store.file(TABLE).unlink()
        if is_read_once:
            assert len(connection.execute(question).fetchall()) == count
        else:
            with pytest.raises(duckdb.IOException):
                connection.execute(question)
