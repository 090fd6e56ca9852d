"""The hooks of all optimizers."""

from collections.abc import Callable
from typing import Any

hooks: list[Callable[[Any, Any, Any], None]] = []


def register_optimizer_step_post_hook(hook: Callable[[Any, Any, Any], None]) -> None:
    hooks.append(hook)
