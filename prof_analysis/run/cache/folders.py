"""Chooses the folder for the tables of each rank: in a store, in the cache, or a temporary one."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from prof_analysis.common.errors import OutputError
from prof_analysis.common.options import NO_CACHE, ProfileOptions
from prof_analysis.common.scratch import ScratchFolder, make_folder
from prof_analysis.common.user_cache import cache_folder
from prof_analysis.run.cache.entries import hold, shrink
from prof_analysis.run.cache.store import RankStore, entry_folder, entry_of
from prof_analysis.sources.rank import Rank

_PRIVATE = 0o700


class Folders:
    """The folders of the ranks of a session, and one for temporary files, as long as the session lasts.

    `keep` says whether they are there for later questions, too.
    """

    def __init__(self, options: ProfileOptions) -> None:
        chosen = None if options.cache in (None, NO_CACHE) else options.cache
        self._store = None if chosen is None else Path(os.path.abspath(chosen))  # noqa: PTH100  (links stay)
        self._cache = cache_folder() if options.cache is None else None
        self._held: ScratchFolder | None = None
        self._temporary = make_folder()
        self.temporary = self._temporary.path

    @property
    def keep(self) -> bool:
        """Whether tables stay for later questions."""
        return self._store is not None or self._cache is not None

    def of(self, ranks: Iterable[Rank]) -> Mapping[Rank, Path]:
        """Return the folder of each rank. Raises OutputError where the store cannot be made."""
        ranks = list(ranks)
        if self._store is not None:
            return {rank: entry_folder(self._store, rank) for rank in ranks}
        if self._cache is not None:
            try:
                self._held = hold(self._cache, (entry_of(self._cache, rank).name for rank in ranks))
                return {rank: entry_folder(self._cache, rank, _PRIVATE) for rank in ranks}
            except (OSError, OutputError):  # Then the answer matters, not the cache.
                self._cache = None
        return {rank: self.temporary / str(number) for number, rank in enumerate(ranks)}

    def without_cache(self, store: RankStore) -> RankStore | None:
        """Return a temporary folder in place of one in the cache, which may be full; None for a folder of another kind."""
        if self._cache is None or store.folder.parent != self._cache:
            return None
        return RankStore(self.temporary / store.folder.name, store.rank, store.variables, store.own)

    def shrink(self) -> None:
        """Remove the entries that were unused for the longest time if the cache has become too large."""
        if self._cache is not None:
            shrink(self._cache)

    def close(self) -> None:
        """Remove temporary files."""
        self._temporary.remove()
        if self._held is not None:
            self._held.remove()
