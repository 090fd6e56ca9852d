"""Profiles whose names are written by an enemy: of modules, ops, kernels, marks, groups, streams of text, folders and files.

Each name is text and nothing else: no page may run it, no terminal obey it, no spreadsheet count it, no SQL read it.
"""

from collections.abc import Iterable
from pathlib import Path

from tests.helpers import kineto, nsys
from tests.helpers.small_profile import Frame, Kernel, Op, Range, edit, write_profile

LONG = "L" + "x" * 39_998 + "G"
# What a name would do, and the name.
NAMES = {
    "end a script": "</script><script>window.owned=1</script>",
    "end a comment": "--><!--<script>window.owned=1</script>",
    "run when it fails to load": '<img src=x onerror="window.owned=1">',
    "run in a picture": "<svg/onload=window.owned=1>",
    "close an attribute": '" onmouseover="window.owned=1" x=\'',
    "close a text in JavaScript": "'-(window.owned=1)-'`${window.owned=1}`\\",
    "be a template": "{{ 7 * 191 }}{% raw %}",
    "be a hover template": "%{customdata[0]}<b>bold</b><extra></extra>",
    "be a formula of mathematics": "$$\\unicode{x202e}$$ \\(x\\)",
    "be a formula of a spreadsheet": "=cmd|' /c calc'!A1",
    "be a cell with a link": '=HYPERLINK("http://evil.example","x")',
    "be SQL": "'; DROP TABLE trace.kernel; --",
    "be a format": "%s %n {0} {x!r} [red]rich[/red]",
    "be an entity": "&lt;b&gt; &amp; &#60;",
    "steer a terminal": "\x1b[2J\x9b31m\x07\x7f\x08",
    "begin a line": "first\r\nFORGED: line\tend\u2028\u2029\x85",
    "turn the direction": "\u202e\u2066evil\u2069\u200f",
    "be invisible": "zero\u200bwidth\u2060\ufeff\u00ad",
    "be a path": "a/b[3]/../../../etc/x;y",
    "be a flame": "main;inner 100",
    "be JSON": '{"x": null, "__proto__": {"owned": 1}}',
    "be no text": "null",
    "be many": LONG,
}
# What no page that shows them as text can hold: each is markup in its own right.
MARKUP = ("<script>window.owned", "<img src=x", "<svg/onload", "<b>bold</b>")


def folder_name(number: int = 0) -> str:
    """Return a hostile name of a result folder that a file system takes."""
    return f"<img src=x onerror=owned=1>'\"`$$ {{{{7}}}}=\u202e\x1b[31m&amp;{number}_ascend_pt"


def write_hostile(folder: Path, rank: int = 0, names: Iterable[str] = tuple(NAMES.values()), steps: int = 2) -> Path:
    """Write a rank of a database in which each name is that of a module, an op, a kernel, a mark, a frame and a group.

    Each of them runs once a step, the n-th for 100 + n ns. Return the folder of the result.
    """
    ops: list[Op] = []
    ranges: list[Range] = []
    frames: list[Frame] = []
    numbered: list[tuple[int, int, int]] = []
    at = 1000
    for step in range(steps):
        first = at
        for number, name in enumerate(names):
            kernel = Kernel(name, at + 40, at + 140 + number, type=name, stream=number)
            group = f"{name}{step}" if name != LONG else name
            communication = Kernel(name, at + 150 + number, at + 160 + number, "communication", group=group)
            ops.append(Op(name, at + 15, at + 30, (kernel, communication), input_shapes=name))
            ranges.append(Range(name, at + 10, at + 35))
            ranges.append(Range(name, at + 12, at + 33, domain=name, event_type=2))
            ranges.append(Range(name, at + 14, at + 14, domain=name, event_type=0))
            frames.append(Frame(f"{name}.py(7): {name}", at + 11, at + 34))
            frames.append(Frame(f"nn.Module: {name}_0", at + 13, at + 32))
            at += 300
        ranges.append(Range("Net", first, at))
        numbered.append((step, first - 5, at + 5))
        at += 100
    result = folder / folder_name(rank)
    path = write_profile(result, ops, ranges, steps=numbered, frames=frames, rank=rank)
    edit(
        path,
        "CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT);"
        "INSERT INTO HOST_INFO VALUES ('1', '<img src=x onerror=window.owned=1>\x1b[31m');",
    )
    return result


def write_hostile_trace(folder: Path, names: Iterable[str] = tuple(NAMES.values())) -> Path:
    """Write a GPU trace in which each name is that of a module, an op, a kernel, a frame and a thread; return the file."""
    events = []
    for number, name in enumerate(names, 1):
        at = number * 1000
        events += [
            kineto.event("python_function", f"{name}.py(7): {name}", at, at + 500),
            kineto.module(f"{name}_0", at + 10, at + 490, number=number),
            kineto.op(name, at + 20, at + 100, number, arguments={"Input Dims": [[name]], "Input type": [name]}),
            kineto.launch(at + 30, at + 40, number, number, name=name),
            kineto.kernel(name, at + 50, at + 150 + number, number, arguments={"kernel_name": name}),
            kineto.event("user_annotation", name, at + 5, at + 495),
            f'{{"ph": "M", "name": "thread_name", "pid": 100, "tid": {number}, "args": {{"name": "<b>{number}</b>"}}}}',
        ]
    return kineto.write_trace(folder / f"{folder_name().removesuffix('_ascend_pt')}.pt.trace.json", events)


def write_hostile_nsys(folder: Path, names: Iterable[str] = tuple(NAMES.values())) -> Path:
    """Write a database of Nsight Systems in which each name is of a module, an op, a kernel, a call, a domain and a mark."""
    text, kernels, calls, events = nsys.Texts(), [], [], []
    for number, name in enumerate(names, 1):
        at = number * 1000
        events += [
            nsys.nvtx(name, 0, None, kind=75, domainId=number),
            nsys.nvtx(name, at + 2, at + 498, domainId=number),
            nsys.nvtx(f"nn.Module: {name}_0", at + 10, at + 490),
            nsys.nvtx(f"{name}, seq = 1, op_id = {number}, sizes = [[{name}]], input_op_ids = []", at + 20, at + 100),
            nsys.nvtx(name, at + 25, None, kind=34, domainId=number, jsonText=f'{{"NCCL communicator ID": {name!r}}}'),
        ]
        calls.append(nsys.call(text(name), at + 30, at + 40, number))
        kernels.append(nsys.kernel(text(name), at + 50, at + 150 + number, number))
    tables = {nsys.KERNELS: kernels, nsys.CALLS: calls, nsys.RANGES: events}
    return nsys.write_tables(folder / "report.sqlite", tables, text)
