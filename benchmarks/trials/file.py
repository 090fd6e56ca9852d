"""Damages of files and folders of any format: cut, empty, garbled, special, doubled, renamed, linked, packed."""

import gzip
import os
import shutil
import zipfile
from pathlib import Path

from benchmarks.trials.registry import Kind, damage
from tests.disturbed.traces import traces

Said = str | None
DATA = ("ascend_*_profiler*.db", "trace_view.json*", "kernel_details*.csv", "*.sqlite")
JSON: tuple[Kind, ...] = ("ascend_text", "kineto")
LOOKED = "the first bytes, the length, the other files of the rank"


def data_of(folder: Path) -> Path | None:
    """Return the file of the first rank that holds its kernels."""
    for name in DATA:
        if files := sorted(folder.rglob(name)):
            return files[0]
    return next(iter(traces(folder)), None)


def result_of(folder: Path) -> list[Path]:
    """Return what the ranks of a profile are: folders of Ascend, or traces and csv files that lie alone."""
    return (
        sorted(folder.rglob("*_ascend_[pm][ts]"))
        or traces(folder)
        or sorted(folder.rglob("*.sqlite"))
        or sorted(file.parent for file in folder.rglob("kernel_details*.csv"))
    )


def _cut(file: Path | None, size: int | None = None) -> Said:
    if file is None:
        return None
    whole = file.stat().st_size
    os.truncate(file, whole // 2 if size is None else size)
    return f"{file.name} cut from {whole} to {file.stat().st_size} bytes"


@damage()
def cut_in_half(folder: Path) -> Said:
    """Cut the file with the kernels in the middle."""
    return _cut(data_of(folder))


@damage()
def empty(folder: Path) -> Said:
    """Leave nothing of the file with the kernels."""
    return _cut(data_of(folder), 0)


@damage()
def garbled(folder: Path) -> Said:
    """Overwrite 64 bytes in the middle."""
    file = data_of(folder)
    if file is None:
        return None
    with file.open("r+b") as stream:
        stream.seek(file.stat().st_size // 2)
        stream.write(bytes(range(128, 192)))
    return f"64 bytes of {file.name} overwritten"


@damage()
def a_rank_lost(folder: Path) -> Said:
    """Take a rank out of several."""
    ranks = result_of(folder)
    if len(ranks) < 2:
        return None
    shutil.rmtree(ranks[-1]) if ranks[-1].is_dir() else ranks[-1].unlink()
    return f"{ranks[-1].name} is gone"


@damage()
def a_file_lost(folder: Path) -> Said:
    """Take the file with the kernels of the first rank out."""
    file = data_of(folder)
    if file is None:
        return None
    file.unlink()
    return f"{file.name} is gone"


@damage("ascend_db", "ascend_text")
def the_same_recording_twice(folder: Path) -> Said:
    """Put the files of one rank in place of those of another, under its names."""
    ranks = result_of(folder)
    if len(ranks) < 2 or not ranks[0].is_dir():
        return None
    one, other = (data_of(rank) for rank in ranks[:2])
    if one is None or other is None:
        return None
    shutil.copy(other, one)
    return f"{one.name} of {ranks[0].name} is a copy of that of {ranks[1].name}"


@damage("kineto")
def the_same_trace_twice(folder: Path) -> Said:
    """Put a copy of a trace beside it."""
    (file, *_) = traces(folder)
    shutil.copy(file, file.with_name(f"copy_{file.name}"))
    return f"{file.name} is there twice"


@damage()
def odd_folder(folder: Path) -> Said:
    """Put the profile into a folder with a newline, an emoji, blanks and signs of patterns in its name."""
    inner = folder / "a\n\N{PILE OF POO} [x]*=1 'b"
    entries = list(folder.iterdir())
    inner.mkdir()
    for entry in entries:
        entry.rename(inner / entry.name)
    return "in a folder with an odd name"


@damage("ascend_db", "ascend_text")
def a_rank_as_a_link(folder: Path) -> Said:
    """Let a rank be a link to its folder elsewhere."""
    ranks = result_of(folder)
    if not ranks or not ranks[0].is_dir() or ranks[0] == folder:
        return None
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    shutil.move(ranks[0], elsewhere)
    ranks[0].symlink_to(elsewhere / ranks[0].name)
    return f"{ranks[0].name} is a link"


@damage()
def a_loop_of_links(folder: Path) -> Said:
    """Let a folder be inside itself."""
    (folder / "again").symlink_to(folder)
    return "a link to the profile inside of it"


@damage("ascend_db", "ascend_text")
def waits_for_ever(folder: Path) -> Said:
    """Put pipes that nobody writes to in place of the descriptions of the rank."""
    made = 0
    for name in ("profiler_info*.json", "profiler_metadata.json", "info.json*"):
        for file in folder.rglob(name):
            file.unlink()
            os.mkfifo(file)
            made += 1
    return f"{made} descriptions are pipes" if made else None


@damage()
def a_pipe_beside(folder: Path) -> Said:
    """Put a pipe that is named like a trace beside the ranks."""
    os.mkfifo(folder / "rank9.pt.trace.json.gz")
    return "rank9.pt.trace.json.gz is a pipe"


@damage("ascend_db", "ascend_text")
def huge_description(folder: Path) -> Said:
    """Let a description be 30 GB of nothing."""
    file = min(folder.rglob("profiler_metadata.json"), default=None) or min(folder.rglob("profiler_info*.json"), default=None)
    if file is None:
        return None
    os.truncate(file, 30 << 30)
    return f"{file.name} has 30 GB"


@damage("ascend_db", "ascend_text")
def descriptions_of_garbage(folder: Path) -> Said:
    """Let the descriptions of ranks be no JSON."""
    files = [*folder.rglob("profiler_info*.json"), *folder.rglob("profiler_metadata.json")]
    for file in files:
        file.write_bytes(b"[" * 200_000)
    return f"{len(files)} descriptions are no JSON" if files else None


@damage("ascend_db", "ascend_text")
def no_descriptions(folder: Path) -> Said:
    """Take the descriptions of ranks out."""
    files = [*folder.rglob("profiler_info*.json"), *folder.rglob("profiler_metadata.json")]
    for file in files:
        file.unlink()
    return f"{len(files)} descriptions are gone" if files else None


@damage()
def a_folder_in_its_place(folder: Path) -> Said:
    """Let a folder have the name of the file with the kernels."""
    file = data_of(folder)
    if file is None:
        return None
    file.unlink()
    file.mkdir()
    return f"{file.name} is a folder"


@damage("ascend_text")
def a_mark_of_utf8(folder: Path) -> Said:
    """Begin text files with a byte order mark, as editors do."""
    files = [*folder.rglob("*.csv"), *folder.rglob("trace_view.json")]
    for file in files:
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    return f"{len(files)} files begin with a byte order mark" if files else None


@damage("ascend_text")
def utf16(folder: Path) -> Said:
    """Write a csv in UTF-16, as a spreadsheet does."""
    file = min(folder.rglob("kernel_details*.csv"), default=None)
    if file is None:
        return None
    file.write_bytes(file.read_text(encoding="utf-8").encode("utf-16"))
    return f"{file.name} is in UTF-16"


@damage("ascend_text")
def lines_of_windows(folder: Path) -> Said:
    """End lines of csv files as Windows does."""
    files = list(folder.rglob("*.csv"))
    for file in files:
        file.write_bytes(file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    return f"{len(files)} files end lines with CR LF" if files else None


@damage(*JSON)
def packed(folder: Path) -> Said:
    """Pack or unpack the trace, and keep what its name says of it."""
    file = next((one for one in traces(folder) if one.suffix in (".gz", ".json")), None)
    if file is None:
        return None
    content = file.read_bytes()
    file.write_bytes(gzip.decompress(content) if file.suffix == ".gz" else gzip.compress(content))
    return f"{file.name} is {'unpacked' if file.suffix == '.gz' else 'packed'}"


@damage(*JSON)
def packed_twice(folder: Path) -> Said:
    """Pack the trace once more."""
    file = next((one for one in traces(folder) if one.suffix == ".gz"), None)
    if file is not None:
        file.write_bytes(gzip.compress(file.read_bytes()))
    return f"{file.name} is packed twice" if file else None


@damage()
def zipped(folder: Path) -> Said:
    """Leave an archive in place of the file with the kernels."""
    file = data_of(folder)
    if file is None:
        return None
    with zipfile.ZipFile(file.with_name(f"{file.name}.zip"), "w") as archive:
        archive.write(file, file.name)
    file.unlink()
    return f"{file.name} is inside {file.name}.zip"
