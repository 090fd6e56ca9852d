"""Write docs/rules.md, what each rule of `advise` finds and where its limits are, from the heads of the files in sql/advice/.

python -m docs.rules
"""

from pathlib import Path

from prof_analysis.engine.heads import split_head
from prof_analysis.engine.statements import sql_folder
from prof_analysis.engine.tables import documented_tables

PAGE = Path(__file__).with_suffix(".md")
INTRODUCTION = """\
# The rules of `advise`

[中文](zh/rules.md)

<!-- Written by `python -m docs.rules` from the heads of the files in sql/advice/. Edit these, not this page. -->

This page says what each rule finds, how it computes the win, and where its limits are. [What to change first](advise.md) says
how to read a finding and which kernels are critical. `advice.threshold` has the values of all limits. A rule named `ai-cpu`
here is the table `advice.ai_cpu`, and its query is the file [sql/advice/ai_cpu.sql](../sql/advice/ai_cpu.sql).
"""


def page() -> str:
    """Return the text of the page."""
    rules = sorted(name.partition(".")[2] for name, table in documented_tables().items() if table.requires)
    return INTRODUCTION + "".join(f"\n## {rule.replace('_', '-')}\n\n{prose_of(rule)}\n" for rule in rules)


def prose_of(rule: str) -> str:
    """Return what the head of a rule says below the lines of its columns."""
    head, _ = split_head((sql_folder() / "advice" / f"{rule}.sql").read_text(encoding="utf-8"))
    paragraphs = "\n".join(head).split("\n\n")
    columns = next(number for number, paragraph in enumerate(paragraphs) if "@columns" in paragraph)
    return "\n\n".join(paragraphs[columns + 1 :])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
