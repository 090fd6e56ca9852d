"""Waits for ranks at work, and gives up when nobody waits for the answer any more."""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait

from prof_analysis.common.errors import QueryError
from prof_analysis.run.job import Outcome

LOOKS_EVERY_S = 0.5


def each_done(running: list[Future[Outcome]], look: Callable[[], None]) -> Iterator[Future[Outcome]]:
    """Yield futures as they finish. `look` is called now and then, and may raise an error to end the waiting."""
    waiting = set(running)
    while waiting:
        look()
        done, waiting = wait(waiting, timeout=LOOKS_EVERY_S, return_when=FIRST_COMPLETED)
        yield from done


def refuse_when(is_stopped: Callable[[], bool]) -> None:
    """Raise a QueryError when nobody waits for the answer any more."""
    if is_stopped():
        raise QueryError("this Profile was closed during the query; open it again")
