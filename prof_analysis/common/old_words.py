"""Words of earlier releases that are understood until 1.0, all of them: of options, of methods and of command lines."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from prof_analysis.common.option_docs import check, one_of
from prof_analysis.common.options import Keywords

# Option of a profile -> what a value of it is now.
_OPTIONS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "by": lambda value: {"instances": _is_instance(value)},
    "store": lambda value: {} if value is None else {"cache": value},
    "cache_dir": lambda value: {} if value is None else {"cache": value},
    "no_cache": lambda value: {"cache": "none"} if value else {},
}
# Method of a profile -> a word that it had -> the values in place of which `by` has one; others are values of `by`.
_METHODS: Mapping[str, Mapping[str, Mapping[Any, str | None]]] = {
    "mfu": {"level": {}},
    "pmu_stats": {"level": {}},
    "layer_stats": {"level": {}},
    "free_time": {"gaps": {True: "gap", False: None}},
    "graph_overhead": {"calls": {True: "call", False: None}},
    "mstx_stats": {"per_step": {True: "step", False: None}},
    "module_stats": {"source_line": {True: "source_line", False: None}},
    "op_stats": {"source_line": {True: "source_line", False: None}},
}
# Words of a command line with a value, and those without: what they are now, where None stands for the value.
_WITH_VALUE: Mapping[str, Sequence[str | None]] = {
    "--level": ("--by", None),
    "--store": ("--cache", None),
    "--cache-dir": ("--cache", None),
    "--copy-to": (None,),
}
_WITH_THIS_VALUE: Mapping[tuple[str, str], Sequence[str]] = {("--by", "instance"): ("--instances",), ("--by", "class"): ()}
_ALONE: Mapping[str, Sequence[str]] = {
    "--no-cache": ("--cache", "none"),
    "--source-line": ("--by", "source-line"),
    "--across-ranks": ("--by", "rank"),
    "--pmu": ("--by", "counter"),
    "--wide": ("--columns", "all"),
}


def _is_instance(by: object) -> bool:
    one_of("by", by, ("class", "instance"))
    return by == "instance"


def options_in_new_words(given: Mapping[str, Any]) -> Keywords:
    """Return the options of a profile with today's words in place of old ones."""
    new = {name: value for name, value in given.items() if name not in _OPTIONS}
    for name in given.keys() & _OPTIONS.keys():
        now = _OPTIONS[name](given[name])
        check(name, given[name], not now.keys() & new.keys(), "one of the two places")
        new |= now
    return cast(Keywords, new)


def arguments_in_new_words(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a method with today's words in place of old ones."""
    old = _METHODS.get(method, {})
    new = {name: value for name, value in given.items() if name not in old}
    for name in given.keys() & old.keys():
        by = old[name].get(given[name], given[name])
        new |= {} if by is None else {"by": by}
    return new


def command_line_in_new_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command line with today's words in place of old ones."""
    found: list[str] = []
    ahead = list(words)
    while ahead:
        word = ahead.pop(0)
        if word == "--":
            return [*found, word, *ahead]
        option, has_value, value = word.partition("=")
        option = option.replace("_", "-") if option.startswith("--") else option
        if option in _ALONE and not has_value:
            found += _ALONE[option]
            continue
        if option in _WITH_VALUE or option == "--by":
            if not has_value:
                if not ahead:
                    return [*found, word]
                value = ahead.pop(0)
            now = _WITH_THIS_VALUE.get((option, value), _WITH_VALUE.get(option, (option, None)))
            found += [value if one is None else one for one in now]
            continue
        found.append(word)
    return found
