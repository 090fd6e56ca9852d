"""torch_npu.npu.mstx."""

from itertools import count
from typing import Any

calls: list[tuple[Any, ...]] = []
_ids = count(1)


class mstx:  # noqa: N801 - the name in torch_npu
    @staticmethod
    def mark(message: str, stream: Any = None, domain: str = "default") -> None:
        calls.append(("mark", message, stream, domain))

    @staticmethod
    def range_start(message: str, stream: Any = None, domain: str = "default") -> int:
        calls.append(("range_start", message, stream, domain))
        return next(_ids)

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        calls.append(("range_end", range_id, domain))
