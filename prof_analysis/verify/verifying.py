"""Verifies a profile: our tables beside those that msprof-analyze wrote, or writes now, of the same ranks."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from prof_analysis.common.errors import InputError
from prof_analysis.common.scratch import temporary_folder
from prof_analysis.engine.database import connect
from prof_analysis.engine.parsing import referenced_tables
from prof_analysis.profile.profile import Profile
from prof_analysis.run.given_tables import SCHEMA, read_tables
from prof_analysis.verify import peer
from prof_analysis.verify.comparing import DIFFERS, ONLY_HERE, ONLY_THERE, Compared, compare
from prof_analysis.verify.pairs import Pair, pairs_of

# Called with a recipe before it runs, its number, and the number of all.
OnRecipe = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Verified:
    """What was compared, by pair; why recipes gave nothing to compare, by recipe; and the version of msprof-analyze, if known.

    `source` is the database that was read, None where the recipes were run.
    """

    compared: list[Compared] = field(default_factory=list)
    without_rows: dict[str, str] = field(default_factory=dict)
    version: str | None = None
    source: Path | None = None

    def count(self, *hows: str) -> int:
        """Return how many rows agree, or differ in one of these ways."""
        return sum(one.count(how) for one in self.compared for how in hows)

    @property
    def agrees(self) -> bool:
        """Whether all rows agree or differ in a known way."""
        return not self.count(DIFFERS, ONLY_HERE, ONLY_THERE)


def verify(
    profile: Profile, recipes: Collection[str] = (), database: Path | None = None, on_recipe: OnRecipe | None = None
) -> Verified:
    """Compare the tables of a profile of one run with those of msprof-analyze: in a database of it, or run now on a copy.

    Raises InputError where msprof-analyze is not installed, where it wrote nothing that can be compared, and for several runs.
    """
    if profile.runs:
        said = f"holds {len(profile.runs)} runs, which msprof-analyze reads as one: {', '.join(profile.runs)}; give one of them"
        raise InputError(f"{profile.path}: {said}", path=profile.path)
    pairs = pairs_of(recipes)
    shown = profile.anonymous if profile.is_anonymous else None
    with connect() as connection:
        if database is not None:
            there = read_tables(connection, database, shown)
            pairs = [pair for pair in pairs if pair.beside.table in there]
            if not pairs:
                names = ", ".join(sorted(pair.beside.table for pair in pairs_of(recipes)))
                has = f"has only {', '.join(there)}" if there else "has no table that msprof-analyze has written"
                raise InputError(f"{database}: {has}; give one that has some of {names}", path=database)
            _take(connection, profile, pairs)
            found = Verified(source=database)
            _compare(connection, pairs, found)
            return _checked(found, database)
        command = peer.command_of_peer()
        found = Verified(version=peer.version_of_peer())
        _take(connection, profile, pairs)
        with temporary_folder() as folder:
            for recipe, written, said in _written(profile, pairs, command, folder, on_recipe):
                of_recipe = [pair for pair in pairs if pair.beside.recipe == recipe]
                with _emptied(connection):
                    tables = [] if written is None else read_tables(connection, written, shown)
                    # Where it found nothing, it writes no table either, but then it names no problem.
                    compared = [pair for pair in of_recipe if pair.beside.table in tables or not said]
                    _compare(connection, compared, found)
                if len(compared) < len(of_recipe):
                    found.without_rows[recipe] = profile.anonymous(said)
    return _checked(found, profile.path)


def _compare(connection: duckdb.DuckDBPyConnection, pairs: Iterable[Pair], found: Verified) -> None:
    """Compare pairs; a table of another version of msprof-analyze costs no other its answer."""
    for pair in pairs:
        try:
            found.compared.append(compare(connection, pair))
        except InputError as error:
            found.without_rows[pair.beside.recipe] = str(error)


def _checked(found: Verified, path: Path) -> Verified:
    """Return what was compared. Raises InputError where that is nothing."""
    if not found.compared:
        recipe, said = next(iter(found.without_rows.items()))
        raise InputError(f"{path}: msprof-analyze wrote nothing to compare; {recipe}: {said}", path=path)
    return found


def _written(
    profile: Profile, pairs: Collection[Pair], command: Path, folder: Path, on_recipe: OnRecipe | None
) -> Iterator[tuple[str, Path | None, str]]:
    """Run the recipes of the pairs on a copy of the ranks: yield each with what run_recipe() returns."""
    recipes = list(dict.fromkeys(pair.beside.recipe for pair in pairs))
    folders = [Path(str(row["folder"])) for row in profile.rank_rows() if row["source"]]
    profiles = peer.copied(folders, folder / "profiles")
    for number, recipe in enumerate(recipes, 1):
        if on_recipe is not None:
            on_recipe(recipe, number, len(recipes))
        yield recipe, *peer.run_recipe(recipe, profiles, folder / recipe, command)


@contextmanager
def _emptied(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Have no tables of msprof-analyze before and after."""
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    yield
    connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE")


def _take(connection: duckdb.DuckDBPyConnection, profile: Profile, pairs: Collection[Pair]) -> None:
    """Copy our tables of the pairs into a connection, and those that explain differences."""
    explaining = {name for pair in pairs if pair.known for name in referenced_tables(pair.known)}
    tables = tuple(dict.fromkeys((*(pair.table for pair in pairs), *sorted(explaining))))
    profile.provide(tables)
    for table in tables:
        rows = profile.table(table, arrow=True)
        schema, _, name = table.partition(".")
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        connection.register("_rows", rows)
        connection.execute(f"CREATE TABLE {schema}.{name} AS FROM _rows")
        connection.unregister("_rows")
