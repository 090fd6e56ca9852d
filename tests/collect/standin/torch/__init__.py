"""As much of torch as prof_analysis.collect touches, so that it runs where torch is not installed."""

from types import SimpleNamespace

from . import autograd, nn, optim, profiler

__all__ = ["autograd", "nn", "optim", "profiler"]

jit = SimpleNamespace(is_tracing=lambda: False)
compiler = SimpleNamespace(is_compiling=lambda: False)
cuda = SimpleNamespace(is_available=lambda: False)


def is_grad_enabled() -> bool:
    return True
