"""Tells archives, and files that are packed otherwise than their name says, from readable files, by their first bytes."""

from pathlib import Path

from prof_analysis.common.input_files import opened

_GZIP = b"\x1f\x8b"
_SQLITE = b"SQLite format 3\0"
_ARCHIVES = {
    b"PK\x03\x04": "a zip archive", b"7z\xbc\xaf\x27\x1c": "a 7z archive", b"\xfd7zXZ\0": "packed with xz",
    b"BZh": "packed with bzip2", b"\x28\xb5\x2f\xfd": "packed with zstd", b"Rar!\x1a\x07": "a rar archive",
}  # fmt: skip
_ARCHIVE_NAMES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2", ".7z", ".rar", ".zst", ".csv.gz", ".db.gz")
_LONGEST = 16


def why_packed(file: Path) -> str | None:
    """Say what a file is that must be unpacked or renamed before it can be read; None for other files."""
    try:
        with opened(file) as content:
            begin = content.read(_LONGEST)
    except OSError:
        return None
    found = next((what for first, what in _ARCHIVES.items() if begin.startswith(first)), None)
    if found:
        return f"{file}: is {found}; unpack it, and give its content"
    if begin.startswith(_GZIP) and not file.name.endswith((".json.gz", ".log.gz")):
        other = f", or rename it to {file.name}.gz" if file.name.endswith(".json") else ""
        return f"{file}: is packed with gzip; unpack it{other}"
    if file.name.endswith(".json.gz") and begin[:1] in (b"[", b"{"):
        return f"{file}: is not packed, though its name ends with .gz; rename it to {file.name.removesuffix('.gz')}"
    if begin == _SQLITE and file.name.endswith((".json", ".csv", ".json.gz")):
        return f"{file}: is an SQLite database; rename it to {file.name.partition('.')[0]}.db if it is one of the profiler"
    return None


def archives_in(folder: Path) -> list[str]:
    """Return the names of the archives in a folder, by their names."""
    try:
        return sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(_ARCHIVE_NAMES))
    except OSError:
        return []
