"""Modules that only call forward."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

calls_of_attention: list[Any] = []


def scaled_dot_product_attention(query: Any, *args: Any, **kwargs: Any) -> Any:
    calls_of_attention.append(query)
    return query


functional = SimpleNamespace(scaled_dot_product_attention=scaled_dot_product_attention)


class Module:
    training = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)  # type: ignore[attr-defined]

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, "Module"]]:
        yield prefix, self
        for name, value in vars(self).items():
            for key, child in value.items() if isinstance(value, dict) else [("", value)]:
                if isinstance(child, Module):
                    yield from child.named_modules(".".join(filter(None, [prefix, name, key])))

    def modules(self) -> Iterator["Module"]:
        for _, module in self.named_modules():
            yield module
