"""Optimizers whose steps call hooks."""

from . import optimizer as optimizer


class Optimizer:
    def step(self) -> None:
        for hook in optimizer.hooks:
            hook(self, (), {})
