"""Write llms.txt, which tells language models what each page is about (llmstxt.org), from docs/README.md.

python -m docs.llms
"""

from pathlib import Path

from docs.index import CHECKOUT, ENGLISH, groups

FILE = CHECKOUT / "llms.txt"
INTRODUCTION = """\
# prof-analysis

> prof-analysis reads what the PyTorch profiler recorded on Huawei Ascend NPUs or on GPUs, and says which module of the model
> costs the time, why the device waits, and what to change first. It is a command, a Python API and SQL over one set of tables;
> `prof-analysis PATH` is the first question, and `--json` makes an answer one object.
"""


def text(place: dict[Path, str] | None = None) -> str:
    """Return the file; `place` says where pages are that are not at their path in the checkout."""
    places = place or {}
    lines = [INTRODUCTION]
    for group, entries in groups(ENGLISH).items():
        named = "".join(f"- [{one.title}]({places.get(one.page, one.page.as_posix())}): {one.about}\n" for one in entries)
        lines.append(f"\n## {group}\n\n{named}")
    return "".join(lines)


def all_pages() -> str:
    """Return the text of the pages of the list, one after the other, each below its path; without the groups for developers."""
    pages = [entry.page for group, entries in groups(ENGLISH).items() if group != "Contribute" for entry in entries]
    return "".join(f"<!-- {page.as_posix()} -->\n\n{(CHECKOUT / page).read_text(encoding='utf-8')}\n" for page in pages)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
