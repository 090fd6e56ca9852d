"""The tables by name, each read when somebody asks for it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from prof_analysis.engine.table_file import Table


class Registry(Mapping[str, Table]):
    """Tables by name. To read all heads takes 0.2 s, and a question needs 20 to 100 of 570."""

    def __init__(self, names: Iterable[str], read: Callable[[str], Table]) -> None:
        self._names = dict.fromkeys(names)
        self._read = cache(read)

    def __getitem__(self, name: str) -> Table:
        if name not in self._names:
            raise KeyError(name)
        return self._read(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def with_others(tables: Mapping[str, Table], others: Mapping[str, Table]) -> Mapping[str, Table]:
    """Return tables with others behind them, or in the place of those with the same names."""
    return Registry((*tables, *others), lambda name: others[name] if name in others else tables[name])
