"""What identifies people and machines, and what is shown in its place: folders, hosts, addresses, processes, users, their code.

The same secret has the same replacement as long as a profile is open. No replacement looks like a secret, so that a text which
is replaced twice stays as it is. docs/anonymize.md says what is replaced and what stays.
"""

import getpass
import os
import platform
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from prof_analysis.anonymous.code import library_file
from prof_analysis.anonymous.looks import HOME, HOST, MAIL, SECRET
from prof_analysis.anonymous.usual_names import (
    COMMON,
    OF_HOST,
    PUBLIC_SITE,
    USUAL_FILE,
    USUAL_FUNCTION,
    USUAL_NAME,
    is_usual_group,
)

# What a text is: decides what is replaced in it.
Role = Literal["text", "sentence", "profile", "frame", "log", "group"]
# Columns whose texts are more than names.
_ROLES: Mapping[str, Role] = {
    "profile": "profile", "frame": "frame", "frames": "frame", "stack": "frame", "python_stack": "frame", "log": "log",
    "group_name": "group", "next_group_name": "group", "listed_name": "group", "known_group": "group", "group_label": "group",
    "group_role": "group", "groups": "group", "label": "group",
    "sentence": "sentence", "finding": "sentence", "slow_ranks": "sentence", "reason": "sentence", "reasons": "sentence",
}  # fmt: skip

_SEPARATORS = re.compile(r"(;| > |\n)")
_FRAME = re.compile(
    r"(?P<before>.*File \")?(?P<file>.+\.pyx?|<[^<>]+>(?:\.\d+)?)"
    r"(\((?P<line>\d+)\): |\", line (?P<number>\d+), in )(?P<function>.+)"
)
_NO_FRAME = re.compile(r"<built-in .*|<\w+>|nn\.Module: .*|\(name lost\)|\w+(?:::\w+)+|frame\d+|\s*", re.DOTALL)
# Code of Python and NumPy that comes from no file.
_PYTHONS_OWN = re.compile(r"<(?:frozen [\w.]+|__array_function__ internals)>")
_OURS = re.compile(r"(rank|folder|run|host|user|path|address|process|log|file|frame|group|secret|id)\d+")


class Anonymous:
    """The secrets that are known so far, by kind, each with its replacement.

    `changed` has the texts of tables that are replaced, by role and text; `numbers` ids of processes and threads.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self.changed: dict[tuple[Role, str], str] = {}
        self._replacements: dict[str, dict[str, str]] = {}
        self._profiles: dict[str, str] = {}
        self._folders: dict[str, str] = {}
        self._own_folders: set[str] = set()
        self._known: re.Pattern[str] | None = None
        self._known_in_sentences: re.Pattern[str] | None = None
        # The package's own code, which tracebacks name.
        self.add_own_folder(Path(__file__).parents[2], "")
        for path in paths:
            self.add_folder(path, self._new("path", str(path)))
        self._add_host(platform.node())
        self._add_user(Path.home().name)
        with suppress(OSError, KeyError):  # A process of nobody.
            self._add_user(getpass.getuser())

    def add_folder(self, path: Path, shown: str) -> None:
        """Replace a folder or file wherever its path is in a text; files below it keep usual names."""
        for one in (str(path), os.fsencode(path).decode("utf-8", "backslashreplace"), os.path.realpath(path)):
            if len(one) > 1:
                self._folders.setdefault(one, shown)
                self.learn(one)
        self._forget_patterns()

    def add_own_folder(self, path: Path, shown: str) -> None:
        """Replace a folder of which this package made all that is below it, so that names there stay."""
        self._folders[str(path)] = shown
        self._own_folders.add(str(path))
        self._forget_patterns()

    def add_profile(self, profile: str, shown: str, host: str | None = None) -> None:
        """Replace the name of a profile, and the host and user that it was recorded on."""
        self._profiles[profile] = shown
        self._add_host(host)
        for part in profile.split("/"):
            if found := OF_HOST.match(part):
                self._add_host(found["host"])
        self.learn(profile)
        self._forget_patterns()

    def learn(self, text: str, role: Role = "text") -> None:
        """Find names of users, hosts and groups in a text, to replace them in all others."""
        if "/" in text or "\\" in text:
            for user in HOME.findall(text):
                self._add_user(user)
        if "//" in text or "\\\\" in text or "worker on " in text:
            for names in HOST.findall(text):
                host = "".join(names).strip(".-")
                self._add_host(None if PUBLIC_SITE.fullmatch(host.lower()) else host)
        if "@" in text:
            for user, host in MAIL.findall(text):
                self._add_user(user)
                self._add("host", None if PUBLIC_SITE.fullmatch(host.lower()) else host.strip(".-"))
        if role == "group":
            for one in text.split(", "):
                if not is_usual_group(one) and SECRET.sub("", one) == one:
                    self._add("group", one)

    def shown(self, text: str, role: Role = "sentence") -> str:
        """Return a text with its secrets replaced."""
        if role == "profile":
            return self._profiles.get(text) or (text if text in self._shown_profiles else self._new("folder", text))
        if role == "log":
            return text if text == "-" or _OURS.fullmatch(text) else self._folders.get(text) or self._new("log", text)
        if role == "group":
            return ", ".join(self._group(one) for one in text.split(", "))
        if role == "sentence":
            text = self._without_profiles(text)
        if any(folder in text and _SEPARATORS.search(folder) for folder in self._folders):
            text = self._without_known(text)  # Else only parts of the folder would be looked for.
        return "".join(self._piece(one, role) for one in _SEPARATORS.split(text))

    def file_name(self, name: str) -> str:
        """Return the name of a file or folder, as it is where profilers call it so."""
        parts = name.split("/")
        return "/".join(one if USUAL_NAME.fullmatch(one) or _OURS.match(one) else self._new_file(one) for one in parts)

    def values(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return values of options with the secrets in their texts replaced."""

        def shown(value: object) -> object:
            return (
                [shown(one) for one in value]
                if isinstance(value, list)
                else self.shown(value)
                if isinstance(value, str)
                else value
            )

        return {name: shown(value) for name, value in values.items()}

    def number(self, kind: str, value: int) -> int:
        """Return a number in place of the id of a process or thread, in the order in which they are seen."""
        if kind == "tid" and value > 0:
            return self.number("pid", value >> 32) << 32 | self._count(f"thread {value >> 32}", str(value & 0xFFFFFFFF))
        return value if value <= 0 else self._count(kind, str(value))

    def seen(self, role: Role, texts: Iterable[str]) -> bool:
        """Remember the replacements of texts of a column; return whether any text has one."""
        found = {(role, text): shown for text in texts if (shown := self.shown(text, role)) != text}
        self.changed |= found
        return bool(found)

    @property
    def _shown_profiles(self) -> Iterable[str]:
        return self._profiles.values()

    def _piece(self, text: str, role: Role) -> str:
        if (found := _FRAME.fullmatch(text)) is not None:
            return self._frame(found)
        if role == "frame" and not _NO_FRAME.fullmatch(text) and not _SEPARATORS.fullmatch(text):
            return self._new("frame", text)
        return SECRET.sub(self._of_pattern, self._without_known(text))

    def _group(self, name: str) -> str:
        """Return the name or the description of a group of ranks; names that frameworks give stay."""
        shown = SECRET.sub(self._of_pattern, self._without_known(name))
        is_usual = shown != name or is_usual_group(name) or _OURS.fullmatch(name)
        return shown if is_usual else self._new("group", name)

    def _without_known(self, text: str) -> str:
        """Return a text with known folders, hosts and users replaced."""
        if self._known is None:
            self._known = self._pattern_of_known()
        return self._known.sub(self._of_known, text)

    def _frame(self, found: re.Match[str]) -> str:
        place = f"({found['line']}): " if found["line"] else f'", line {found["number"]}, in '
        before = found["before"] or ""
        file = found["file"] if _PYTHONS_OWN.match(found["file"]) else library_file(found["file"])
        if file is not None:
            return f"{before}{file}{place}{found['function']}"
        function = found["function"]
        if not USUAL_FUNCTION.fullmatch(function) and not re.fullmatch(r"function_\d+", function):
            function = f"function_{self._count('function', function)}"
        return f"{before}{self._script(found['file'])}{place}{function}"

    def _script(self, file: str) -> str:
        """Return the name of a file of Python code, of a library as it is."""
        if (known := library_file(file)) is not None:
            return known
        if USUAL_FILE.fullmatch(file):
            return file
        if re.fullmatch(r"user_file_\d+\.pyx?", file):
            return file
        return f"user_file_{self._count('script', file)}.py"

    def _without_profiles(self, text: str) -> str:
        """Return a sentence with the names of profiles and folders replaced wherever they are."""
        if self._known_in_sentences is None:
            self._known_in_sentences = _any_of((one for one in self._profiles if len(one) > 2), *_NAME)
        return self._known_in_sentences.sub(lambda found: self._profiles[found[0]], text)

    def _pattern_of_known(self) -> re.Pattern[str]:
        hosts, users, groups = (_any_of(self._replacements.get(kind, ()), *_WORD).pattern for kind in _KNOWN)
        folders = _any_of(self._folders).pattern
        return re.compile(
            f"(?P<folder>{folders})(?P<below>{_ODD_FILE}|(?:/[^/\\s\"'<>|:;,()]+)*)(?![\\w-])|(?P<host>{hosts})|(?P<user>{users})|(?P<group>{groups})"
        )

    def _of_known(self, found: re.Match[str]) -> str:
        for kind in _KNOWN:
            if found[kind]:
                return self._replacements[kind][found[kind]]
        below = found["below"].removeprefix("/")
        shown = self._folders[found["folder"]]
        if below and found["folder"] not in self._own_folders:
            below = self.file_name(below)
        return "/".join(one for one in (shown, below) if one)

    def _of_pattern(self, found: re.Match[str]) -> str:
        kind, text = str(found.lastgroup), found[0]
        if kind in ("path", "windows"):
            return self._path(text)
        if kind == "script":
            return self._script(text)
        if kind == "credential":
            (name,) = re.findall(r"^\w+", text)
            between = text[len(name) : re.search(r"[=:][\s\"']*", text).end()]  # type: ignore[union-attr]
            return f"{name}{between}{self._new('secret', text[len(name) + len(between) :])}"
        if kind == "process":
            return self._new("process", re.sub(r"\D", "", text))
        if _OURS.fullmatch(text):
            return text
        return self._new({"mail": "user", "url": "address"}.get(kind, kind), text)

    def _path(self, text: str) -> str:
        if text.endswith((".py", ".pyx")):
            return self._script(text)
        path = text.rstrip("/\\.")
        ending = text[len(path) :].replace("/", "").replace("\\", "")
        *_, name = re.split(r"[/\\]", path)
        if "." in name and USUAL_NAME.fullmatch(name):
            return f"{self._new('path', path.removesuffix(name))}/{name}{ending}"
        return self._new("path", path) + ending

    def _new_file(self, name: str) -> str:
        ending = re.search(r"(\.[a-z]{2,8}){1,4}$", name)
        return self._new("file", name) + (ending[0] if ending else "")

    def _new(self, kind: str, secret: str) -> str:
        return self._replacements.setdefault(kind, {}).setdefault(secret, f"{kind}{len(self._replacements[kind]) + 1}")

    def _count(self, kind: str, secret: str) -> int:
        found = self._replacements.setdefault(kind, {})
        return int(found.setdefault(secret, str(len(found) + 1)))

    def _add_host(self, name: str | None) -> None:
        self._add("host", name)
        if name and "." in name:
            self._add("host", name.partition(".")[0])

    def _add_user(self, name: str | None) -> None:
        self._add("user", name)

    def _add(self, kind: str, name: str | None) -> None:
        """Know a name wherever it is a word; short ones and those of many machines would be found where they mean nothing."""
        if name and len(name) > 2 and name not in COMMON and not name.isdecimal() and not _OURS.fullmatch(name):
            self._new(kind, name)
            self._forget_patterns()

    def _forget_patterns(self) -> None:
        self._known = self._known_in_sentences = None


# Kinds of names that are replaced wherever they are words.
_KNOWN = ("host", "user", "group")
_WORD = (r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])")
# A file in a known folder whose name has blanks or the like.
_ODD_FILE = r"(?:/[^\n:;\"'<>|]{1,255}?\.(?:db|json|csv|gz|sql|log|txt|html|xlsx|parquet|duckdb)\b)"
_NAME = (r"(?<![\w/.-])", r"(?![\w-])")


def _any_of(texts: Iterable[str], before: str = "", after: str = "") -> re.Pattern[str]:
    """Return a pattern that finds any of these texts, the longest first; without texts, one that finds nothing."""
    known = "|".join(map(re.escape, sorted(texts, key=lambda text: (-len(text), text))))
    return re.compile(f"{before}(?:{known}){after}" if known else r"(?!)")


def role_of(column: str) -> Role:
    """Return the kind of texts in a column."""
    return "profile" if column.endswith("_profile") else _ROLES.get(column, "text")
