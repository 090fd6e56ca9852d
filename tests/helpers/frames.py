"""Frames as Arrow tables, whose rows are Python values."""

import pandas
import pyarrow


def arrow_of(frame: pandas.DataFrame) -> pyarrow.Table:
    """Return a frame as an Arrow table: to_pylist() gives plain integers, and None where a value is unknown."""
    return pyarrow.Table.from_pandas(frame, preserve_index=False)
