"""What is to be done for a rank, and what came of it."""

import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from prof_analysis.common.answer_options import Variables
from prof_analysis.common.errors import ProfAnalysisError, reason_of, remedy_of
from prof_analysis.common.version import __version__
from prof_analysis.engine.code import code_digest
from prof_analysis.engine.statements import run
from prof_analysis.engine.table_file import Table
from prof_analysis.sources.rank import Rank

# Input of this size, some 20,000 kernels, has few rows: DuckDB plans for longer than it runs, and all tables take 100 MB.
FEW_ROWS_BYTES = 16 * 2**20
# Arrays take as much memory as the files of a rank, besides the tables, which take two to three times as much.
_ARRAYS_OF_INPUT = 4
# How many times smaller a trace is packed.
_PACKED = 10


@dataclass(frozen=True)
class Job:
    """A job for one rank: the tables to build, the values that their SQL reads, and the folder for the tables.

    `tables` are those of `asked` that its folder lacks; without `asked`, they are the question. With `keeps`, the folder keeps
    tables of the engine, too, and they are used. `own` has the tables of the user's own SQL, read before the job is sent, so
    that every worker has the same ones.
    `threads` and `buffer_bytes` limit DuckDB; None means all that there is. Data that does not fit is spilled to a folder below
    `spill_folder`.
    """

    rank: Rank
    tables: tuple[str, ...]
    variables: Variables
    folder: Path
    own: tuple[Table, ...] = ()
    threads: int | None = None
    buffer_bytes: int | None = None
    spill_folder: Path | None = None
    asked: tuple[str, ...] = ()
    keeps: bool = False

    @property
    def question(self) -> tuple[str, ...]:
        """The tables that answer the question."""
        return self.asked or self.tables

    @property
    def input_bytes(self) -> int:
        """Size of the input files that exist."""
        return sum(map(_size_of, self.rank.inputs))


@dataclass(frozen=True)
class Outcome:
    """The outcome of a job: where it failed, the reason, the traceback for --debug, and the file at which it failed."""

    job: Job
    failure: str | None = None
    details: str | None = None
    path: Path | None = None


@dataclass(frozen=True)
class Code:
    """The versions of the code that builds tables: other versions may build other tables from the same files."""

    digest: str
    prof_analysis: str
    duckdb: str


def have_few_rows(ranks: Iterable[Rank]) -> bool:
    """Return whether the input of ranks is so small that to plan its queries takes longer than to run them."""
    files = (file for rank in ranks for file in rank.inputs)
    return sum(_size_of(file) * (_PACKED if file.suffix == ".gz" else 1) for file in files) <= FEW_ROWS_BYTES


def fits_in_arrays(job: Job, connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether functions may take columns of this rank as arrays, which DuckDB cannot spill to the disk."""
    if have_few_rows([job.rank]):
        return False
    ((limit,),) = run(connection, "SELECT parse_formatted_bytes(current_setting('memory_limit'))").fetchall()
    return job.input_bytes * _ARRAYS_OF_INPUT <= int(limit)


def own_code() -> Code:
    """Return the code of this process."""
    return Code(code_digest(), __version__, duckdb.__version__)


def failed(job: Job, error: BaseException) -> Outcome:
    """Return the outcome of a job that raised an error, with one line for the user."""
    if isinstance(error, ProfAnalysisError):
        failure = str(error)
    elif isinstance(error, (duckdb.Error, OSError, MemoryError)):
        failure = f"{job.rank.folder}: cannot be analysed ({reason_of(error)}){remedy_of(error)}"
    else:
        defect = f"{type(error).__name__}: {reason_of(error)}"
        failure = f"{job.rank.folder}: cannot be analysed: a defect of prof-analysis, please report it with --debug ({defect})"
    path = error.path if isinstance(error, ProfAnalysisError) else None
    return Outcome(job, failure, "".join(traceback.format_exception(error)), path or job.rank.folder)


def died(job: Job, error: BaseException) -> Outcome:
    """Return the outcome of a job whose process died."""
    return Outcome(
        job,
        failure=f"{job.rank.folder}: the process that analysed it died, killed or out of memory; run it alone with "
        "--rank-list, with fewer --workers or a smaller --memory-limit",
        details=repr(error),
    )


def _size_of(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
