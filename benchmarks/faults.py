"""Plant faults in the SQL and the Python of the project, one by one, and see which of them the tests find.

    python -m benchmarks.faults draw faults.json --count 60 --seed 37     # by chance, from all places that can be changed
    python -m benchmarks.faults try faults.json [--workers 2]             # each against the pages and the folder of its schema
    python -m benchmarks.faults together faults.json                      # all survivors at once, in one run of the whole suite

A fault is one change of a few signs: an operator, a bound, a number, a join key, a NULL, an order or one of two times. `try`
and `together` work on copies of the checkout, and write what was found into the file. A fault that `together` finds is found by
one of the tests that failed, alone with it.
"""

import argparse
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from prof_analysis.engine.cases import ENDING

CHECKOUT = Path(__file__).parent.parent
OF_BOTH = {
    r"(?<=\w |\) )\+(?= [\w(])": "-", r"(?<=\w |\) )-(?= [\w(])": "+",
    r"(?<= )<(?= )": "<=", r"(?<= )<=(?= )": "<", r"(?<= )>(?= )": ">=", r"(?<= )>=(?= )": ">",
    r"\bmin\(": "max(", r"\bmax\(": "min(", r"\bstart_ns\b": "end_ns", r"\bend_ns\b": "start_ns",
    r"(?<![\w.'])[1-9]\d*(?![\w.'])": "*",
}  # fmt: skip
CHANGES = {
    ".sql": OF_BOTH | {
        r"\bAND\b": "OR", r"\bOR\b": "AND", r"\bIS NULL\b": "IS NOT NULL", r"\bIS NOT NULL\b": "IS NULL",
        r"\bLEFT JOIN\b": "JOIN",
        r"\bNOT (?=\w)": "", r" DESC\b": "", r"\bUNION ALL\b": "UNION", r"\bDISTINCT ": "",
        r"(?<=USING \(\w)(\w*), \w+(?=\))": r"\1",
        r"\bsum\(": "max(", r"(?<= )<>(?= )": "=", r"(?<= )=(?= )": "<>", r"\blag\(": "lead(",
    },
    ".py": OF_BOTH | {
        r"(?<= )and(?= )": "or", r"(?<= )or(?= )": "and", r"\bis None\b": "is not None", r"\bis not None\b": "is None",
        r"(?<=[ (])not (?=\w)": "", r"(?<= )==(?= )": "!=", r"(?<= )!=(?= )": "==", r"\bTrue\b": "False", r"\bFalse\b": "True",
        r"(?<= )in(?= [\w(.]+( |:|\)))(?<!for \w in)": "not in",
    },
}  # fmt: skip
# Folder of code -> folders of its tests, where they are not called alike.
TESTS = {
    "sql/sources": "sources", "sql/stack": "stacks", "sql/flame": "stacks", "sql/across": "kernels module step",
    "sql/runs": "compare", "sql/allocation": "memory", "sql/macros": "engine module", "sql/trace": "sources",
    "prof_analysis/__init__": "api", "prof_analysis/__main__": "cli",
    "prof_analysis/analyses": "answers cli", "prof_analysis/anonymous": "anonymize", "prof_analysis/cli": "cli",
    "prof_analysis/common": "api cli", "prof_analysis/functions": "compare engine", "prof_analysis/logs": "vllm",
    "prof_analysis/pictures": "figures report", "prof_analysis/profile": "api compare",
}  # fmt: skip
# Page of cases, without .cases.md -> the test that reads it.
PAGE = "tests/tables/test_cases.py::test_the_cases_of_a_table_hold[{}]"
LIMIT_S = 900


@dataclass
class Fault:
    """A change of a line, and the test that found it: "" before it was tried, "-" where none did."""

    file: str
    line: int
    before: str
    after: str
    found_by: str = ""


def places() -> list[Fault]:
    """All changes of one place that leave a statement or a file that can be read."""
    found = []
    for folder, kind in (("sql", ".sql"), ("prof_analysis", ".py")):
        for file in sorted((CHECKOUT / folder).rglob(f"*{kind}")):
            text = file.read_text(encoding="utf-8")
            for number, (line, code) in enumerate(zip(text.splitlines(), _code(text, kind), strict=True)):
                for changed in _changed(line, code, kind):
                    found.append(Fault(str(file.relative_to(CHECKOUT)), number, line, changed))
    return found


def _code(text: str, kind: str) -> list[str]:
    """The lines of a file, with a blank for each sign of a comment or a text."""
    if kind == ".sql":
        return re.sub(r"--[^\n]*|'[^'\n]*'", lambda one: " " * len(one[0]), text).splitlines()
    lines = [list(line) for line in text.splitlines()]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            (first, begin), (last, end) = token.start, token.end
            for number in range(first - 1, last):
                line = lines[number]
                to = end if number == last - 1 else len(line)
                line[begin if number == first - 1 else 0 : to] = " " * (to - (begin if number == first - 1 else 0))
    return ["".join(line) for line in lines]


def _changed(line: str, code: str, kind: str) -> Iterator[str]:
    for pattern, after in CHANGES[kind].items():
        for one in re.finditer(pattern, code):
            new = str(int(one[0]) * 10 if int(one[0]) > 9 else int(one[0]) + 1) if after == "*" else one.expand(after)
            yield line[: one.start()] + new + line[one.end() :]


def _is_readable(fault: Fault) -> bool:
    text = "\n".join(_planted(fault, CHECKOUT))
    if fault.file.endswith(".py"):
        try:
            compile(text, fault.file, "exec")
        except SyntaxError:
            return False
        return True
    try:
        duckdb.extract_statements(text)
    except duckdb.Error:
        return False
    return True


def _planted(fault: Fault, root: Path) -> list[str]:
    lines = (root / fault.file).read_text(encoding="utf-8").splitlines()
    if lines[fault.line : fault.line + 1] != [fault.before]:  # The file has moved on since.
        alike = [number for number, line in enumerate(lines) if line == fault.before]
        fault.line = min(alike, key=lambda number: abs(number - fault.line))
    lines[fault.line] = fault.after
    return [*lines, ""]


def draw(count: int, seed: int) -> list[Fault]:
    """As many faults in SQL as in Python."""
    chance = random.Random(seed)
    everything = places()
    chosen: list[Fault] = []
    for kind in (".sql", ".py"):
        of_kind = [fault for fault in everything if fault.file.endswith(kind)]
        chance.shuffle(of_kind)
        chosen += [fault for fault in of_kind[: count * 2] if _is_readable(fault)][: count // 2]
    return chosen


def _tests_of(fault: Fault) -> list[str]:
    """The page of the table and the pages of its schema, or tests called like the file, then the folder: the fastest first."""
    alike = [str(test.relative_to(CHECKOUT)) for test in sorted(CHECKOUT.glob(f"tests/**/test_{Path(fault.file).stem}.py"))]
    folder = "/".join(Path(fault.file).with_suffix("").parts[:2])
    names = TESTS.get(folder, folder.partition("/")[2]).split()
    folders = [f"tests/{name}" for name in names if (CHECKOUT / "tests" / name).is_dir()] or ["tests"]
    return [*(_pages_of(Path(fault.file)) or alike), *folders]


def _pages_of(file: Path) -> list[str]:
    if file.parts[0] != "sql":
        return []
    around = {"macros": "", "trace": "sources"}.get(file.parts[1], "/".join(file.parts[1:-1]))
    pages = CHECKOUT / "tests" / "tables"
    names = sorted(page.relative_to(pages).as_posix().removesuffix(ENDING) for page in (pages / around).rglob(f"*{ENDING}"))
    own = f"{around}/{file.name.partition('.')[0]}"
    return [PAGE.format(name) for name in sorted(names, key=lambda name: name != own)]


def _copy(folder: Path) -> Path:
    ignored = shutil.ignore_patterns(".venv", ".git", "__pycache__", "site", ".*_cache")
    root = shutil.copytree(CHECKOUT, folder / "checkout", ignore=ignored)
    (folder / "shared").symlink_to(CHECKOUT.parent / "shared")
    (root / ".venv").symlink_to(CHECKOUT / ".venv")
    return root


def _run(root: Path, words: Sequence[str], limit_s: int) -> list[str]:
    """The tests that failed; "no end" where time ran out."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    try:
        words = [sys.executable, "-m", "pytest", "-q", *words]
        done = subprocess.run(words, cwd=root, env=environment, timeout=limit_s, capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        return ["no end"]
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout.decode("utf-8", "replace"), re.MULTILINE)
    return failed or ([] if done.returncode == 0 else ["no start"])


def _try(fault: Fault, root: Path, words: Sequence[str], limit_s: int = LIMIT_S) -> list[str]:
    file = root / fault.file
    original = file.read_text(encoding="utf-8")
    file.write_text("\n".join(_planted(fault, root)), encoding="utf-8")
    try:
        return _run(root, words, limit_s)
    finally:
        file.write_text(original, encoding="utf-8")


def try_folders(faults: list[Fault], file: Path, workers: int) -> None:
    """Try each fault that was not tried against the tests of its folder."""
    with TemporaryDirectory() as made, ThreadPoolExecutor(workers) as pool:
        roots = [_copy(Path(made) / str(number)) for number in range(workers)]

        def one(fault: Fault) -> None:
            root = roots.pop()
            failed = _try(fault, root, ["-n", "0", "-x", *_tests_of(fault)])
            roots.append(root)
            fault.found_by = failed[0] if failed else "-"
            _say(fault)
            _keep(faults, file)

        list(pool.map(one, [fault for fault in faults if not fault.found_by]))


def try_together(faults: list[Fault], file: Path) -> None:
    """Plant all survivors, one a line, run the whole suite, and look which of the tests that failed each one fails alone."""
    left = {(fault.file, fault.before): fault for fault in faults if fault.found_by == "-"}
    with TemporaryDirectory() as made:
        root = _copy(Path(made))
        usual = _run(root, [], 10 * LIMIT_S)
        originals = {name: (root / name).read_text(encoding="utf-8") for name, _ in left}
        for fault in left.values():
            (root / fault.file).write_text("\n".join(_planted(fault, root)), encoding="utf-8")
        failed = [test for test in _run(root, [], 10 * LIMIT_S) if test not in usual]
        print(len(failed), "tests fail with", len(left), "faults", flush=True)
        for name, text in originals.items():
            (root / name).write_text(text, encoding="utf-8")
        for fault in left.values():
            found = _try(fault, root, ["-x", *failed]) if failed else []
            fault.found_by = found[0] if found else "-"
            _say(fault)
            _keep(faults, file)


def _say(fault: Fault) -> None:
    print(fault.found_by, fault.file, fault.line + 1, fault.before.strip(), "->", fault.after.strip(), flush=True)


def _keep(faults: list[Fault], file: Path) -> None:
    file.write_text(json.dumps([asdict(fault) for fault in faults], indent=1), encoding="utf-8")


def main() -> None:
    raw = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser("python -m benchmarks.faults", description=__doc__, formatter_class=raw)
    parser.add_argument("what", choices=("draw", "try", "together"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=37)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.what == "draw":
        faults = draw(given.count, given.seed)
        _keep(faults, given.file)
    else:
        faults = [Fault(**one) for one in json.loads(given.file.read_text(encoding="utf-8"))]
        if given.what == "try":
            try_folders(faults, given.file, given.workers)
        else:
            try_together(faults, given.file)
    found = sum(fault.found_by not in ("", "-") for fault in faults)
    print(f"{len(faults)} faults, {found} found, {sum(fault.found_by == '-' for fault in faults)} survive")


if __name__ == "__main__":
    main()
