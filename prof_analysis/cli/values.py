"""Reads the values of options that are texts on the command line: lists, sizes, peaks and thresholds."""

import re
from collections.abc import Callable
from functools import partial

import typer


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT]?)(i?)B?", text.strip(), re.IGNORECASE)
    if found is None:
        raise typer.BadParameter(f"{text}: give a size such as 3GB", param_hint="--memory-limit")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** " KMGT".index(found[2].upper() or " "))


def _peaks(text: str) -> dict[str, float] | str:
    if text == "published":
        return text
    pairs = [part.split("=") for part in text.lower().replace(" ", "").split(",")]
    try:
        return {data_type: float(tflops) for data_type, tflops in pairs}
    except ValueError:
        raise typer.BadParameter(f"{text}: give peaks such as fp16=376,bf16=353.9", param_hint="--peak-tflops") from None


def _thresholds(text: str) -> dict[str, float]:
    pairs = [part.strip().partition("=") for part in text.split(",")]
    try:
        return {name.strip(): float(value) for name, _, value in pairs}
    except ValueError:
        raise typer.BadParameter(
            f"{text}: give thresholds such as every.least_share=0.01,low_clock.least_share=0.05", param_hint="--threshold"
        ) from None


def _numbers(text: str, option: str, expected: str) -> list[int]:
    if not all(part.isdecimal() for part in _words(text)):
        raise typer.BadParameter(f"{text}: give {expected}", param_hint=option)
    return [int(part) for part in _words(text)]


def _rank_pairs(text: str) -> dict[int, int]:
    pairs = [[part.strip() for part in pair.split("=")] for pair in text.split(",")]
    if not all(len(pair) == 2 and all(part.isdecimal() for part in pair) for pair in pairs):
        raise typer.BadParameter(f"{text}: give pairs of rank ids, base=new, such as 0=4,1=5", param_hint="--rank-map")
    found = {int(base): int(new) for base, new in pairs}
    if len(found) < len(pairs) or len(set(found.values())) < len(pairs):
        raise typer.BadParameter(f"{text}: give each rank id once on each side", param_hint="--rank-map")
    return found


def _words(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


# Options that are texts on the command line, and the functions that read them.
PARSERS: dict[str, Callable[[str], object]] = {
    "rank_list": partial(_numbers, option="--rank-list", expected="rank ids separated by commas, such as 0,3"),
    "skip_steps": partial(_numbers, option="--skip-steps", expected="numbers of steps separated by commas, such as 1,2"),
    "rank_map": _rank_pairs,
    "module_domains": _words,
    "memory_limit": _bytes,
    "peak_tflops": _peaks,
    "thresholds": _thresholds,
}
