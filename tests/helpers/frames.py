"""Frames as Arrow tables, whose rows are Python values."""

import pandas
import pyarrow

from prof_analysis.engine.tables import documented_tables


def arrow_of(frame: pandas.DataFrame) -> pyarrow.Table:
    """Return a frame as an Arrow table with the columns in the order of the documented table that has them.

    to_pylist() gives plain integers, and None where a value is unknown.
    """
    return pyarrow.Table.from_pandas(frame[_in_order(list(frame.columns))], preserve_index=False)


def _in_order(names: list[str]) -> list[str]:
    front = [name for name in names if name == "run"]
    for table in documented_tables().values():
        own = [*(("profile", "rank_id") if table.grain == "rank" else ()), *(column.shown_name for column in table.columns)]
        if sorted(own) == sorted(set(names) - {"run"}):
            return [*front, *own]
    return names
