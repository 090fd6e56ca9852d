"""Simulates ranks that wait for each other, and writes them as small profiles."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

TRANSFER = 10


@dataclass
class Rank:
    """A rank in the making: what its device did so far, and the steps. Each rank has a clock of its own."""

    number: int
    clock: int
    now: int = 0
    kernels: list[Kernel] = field(default_factory=list)
    steps: list[list[Kernel]] = field(default_factory=list)

    def compute(self, time: int) -> None:
        """A compute kernel."""
        self.kernels.append(Kernel("mm", self.clock + self.now, self.clock + self.now + time))
        self.now += time

    def communicate(self, name: str, group: str, end: int) -> None:
        """A communication operator that the rank enters now."""
        # write_profile() numbers operators; what follows the bar is cut off in write().
        times = (self.clock + self.now, self.clock + end)
        self.kernels.append(Kernel(f"{name}|", *times, kind="communication", type=None, group=group))
        self.now = end

    def end_step(self) -> None:
        """What follows is of the next step."""
        self.steps.append(self.kernels)
        self.kernels = []

    def write(self, folder: Path, metadata: dict[str, object]) -> None:
        """Write the rank as a profile with a database. The host is ahead: an op launches all that a step does."""
        starts = [self.clock + 100 * number for number in range(len(self.steps))]
        ops = [Op("step", start + 10, start + 20, tuple(step)) for start, step in zip(starts, self.steps, strict=True)]
        steps = [(number, start, start + 90) for number, start in enumerate(starts, 5)]
        nets = [Range("Net", start, start + 80) for start in starts]
        database = write_profile(folder / f"rank{self.number}_ascend_pt", ops, nets, steps=steps, rank=self.number)
        rows = "".join(f"INSERT INTO META_DATA VALUES ('{name}', '{json.dumps(value)}');" for name, value in metadata.items())
        edit(
            database,
            "UPDATE STRING_IDS SET value = substr(value, 1, instr(value, '|') - 1) WHERE value LIKE '%|_904_%';"
            f"CREATE TABLE META_DATA (name TEXT, value TEXT); {rows}",
        )


def all_reduce(ranks: list[Rank], group: str, number: int) -> None:
    """All ranks leave it together, once the last one has come."""
    end = max(rank.now for rank in ranks) + TRANSFER
    for rank in ranks:
        rank.communicate(f"hcom_allReduce__{group}_{number}_1", group, end)


def data_parallel(folder: Path, computing: list[list[int]]) -> None:
    """Ranks that compute, so long in each step, and then reduce their gradients."""
    ranks = [Rank(number, clock=10**6 * (number + 1)) for number in range(len(computing[0]))]
    for number, times in enumerate(computing):
        for rank, time in zip(ranks, times, strict=True):
            rank.compute(time)
        all_reduce(ranks, "dp", number)
        for rank in ranks:
            rank.end_step()
    for rank in ranks:
        rank.write(folder, {})


def pipeline(folder: Path, unit: tuple[int, int], micro_batches: int = 4) -> None:
    """Two stages: a forward takes a stage its unit, a backward twice as much; then all reduce."""
    first, second = ranks = [Rank(number, clock=10**7 * (number + 1)) for number in range(2)]
    sent, back = [], []
    for number in range(micro_batches):
        first.compute(unit[0])
        first.communicate(f"hcom_send__1_{number}_1", "pp", first.now + TRANSFER)
        sent.append(first.now)
    for number in range(micro_batches):
        second.communicate(f"hcom_receive__1_{2 * number}_1", "pp", max(second.now, sent[number]) + TRANSFER)
        second.compute(3 * unit[1])
        second.communicate(f"hcom_send__1_{2 * number + 1}_1", "pp", second.now + TRANSFER)
        back.append(second.now)
    for number in range(micro_batches):
        first.communicate(f"hcom_receive__1_{micro_batches + number}_1", "pp", max(first.now, back[number]) + TRANSFER)
        first.compute(2 * unit[0])
    all_reduce(ranks, "world", 0)
    for rank in ranks:
        rank.end_step()
        pair = {"group_name": "pp", "group_rank": rank.number, "global_ranks": [0, 1]}
        rank.write(folder, {"parallel_group_info": {"group_name_7": pair}, "distributed_args": {"rank": rank.number}})
