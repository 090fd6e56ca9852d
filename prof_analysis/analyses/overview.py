"""The ranks under a path, for people: ranks as a table, and each answer and each reason once, with its ranks."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from prof_analysis.analyses import ANALYSES, words
from prof_analysis.analyses.answer import Answer, Block, Entry, Sentences
from prof_analysis.analyses.spoken import spoken, word
from prof_analysis.common.visible import visible
from prof_analysis.languages import said

# A row of Profile.ranks().
RankRow = Mapping[str, Any]

NUMBERS = ("rank", "device", "answers")
# The questions that most people ask first.
_FIRST_QUESTIONS = ("diagnose", "advise", "module-stats", "step-time", "mfu")
_MOST_NAMES = 8
_MOST_RANKS = 20


def columns_of(row: RankRow) -> dict[str, object]:
    """Return the cells of a rank by the headings of the table."""
    return {
        "folder": row["profile"],
        **({"run": row["run"]} if "run" in row else {}),
        "rank": row["rank_id"],
        "device": row["device_id"],
        "answers": f"{len(row['answers'])} of {len(ANALYSES)}",
        "level": row["profiler_level"],
        "modules from": row["modules_from"],
        "read from": row["read_from"],
        "rank from": row["rank_id_from"],
        "files": ", ".join(row["files"]),
    }


def cell(value: object) -> str:
    """Return a cell as text; unknown values are a dash."""
    return "-" if value is None or value == "" else str(value)


def sentences(rows: Sequence[RankRow]) -> list[str]:
    """Return sentences about ranks: the questions that they answer, why they do not answer others, and missing data."""
    found: dict[str, list[RankRow]] = {}
    for row in rows:
        for sentence in _sentences_of(row):
            found.setdefault(sentence, []).append(row)
    return [one if len(about) == len(rows) else f"{one} ({_names(about)})" for one, about in found.items()]


def _sentences_of(row: RankRow) -> list[str]:
    found = []
    if row["left_out"]:
        found.append(f"left out: {row['left_out']}")
    else:
        found.append(f"answers: {', '.join(row['answers']) or 'nothing'}")
    unanswered = dict(one.split(": ", 1) for one in row["unanswered"])
    for reason in dict.fromkeys(unanswered.values()):
        questions = ", ".join(question for question, why in unanswered.items() if why == reason)
        found.append(f"cannot answer {questions}: {reason}")
    if row["metadata"]:
        found.append(f"metadata that was added: {'; '.join(row['metadata'])}")
    if row["better_recording"]:
        found.append(row["better_recording"])
    found += (one for one in (*row["unread"], *row["missing"]) if one not in unanswered.values())
    return found


def _names(rows: Sequence[RankRow]) -> str:
    """Return the names of ranks, of many only the first ones."""
    are_known = all(row["rank_id"] is not None and not row.get("run") for row in rows)  # Each run has a rank 0.
    names = [str(row["rank_id"]) if are_known else row["profile"] for row in rows]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{'rank' if are_known else 'folder'}{'s' * (len(names) > 1)} {', '.join(names[:_MOST_NAMES])}{more}"


def as_text(path: str, rows: Sequence[RankRow]) -> str:
    """Return the ranks as text: a line for each rank, if there are many only the first ones, and the sentences."""
    grid = _grid(rows)
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    is_number = [heading in NUMBERS for heading in grid[0]]
    lines = [_title(path, rows)]
    for line in grid:
        cells = [
            one.rjust(width) if right else one.ljust(width) for one, width, right in zip(line, widths, is_number, strict=True)
        ]
        lines.append(f"  {'  '.join(cells).rstrip()}")
    return "\n".join([*lines, *_more(rows), *map(visible, sentences(rows)), *(f"next: {line}" for line in _next(rows)[:1])])


def as_html(path: str, rows: Sequence[RankRow], verdicts: Mapping[str, Answer]) -> str:
    """Return a profile as HTML, for a notebook: the verdict on each run, its ranks, the sentences, and lines to type next."""
    more = "".join(f"<p>{escape(said(one.strip()))}</p>\n" for one in _more(rows))
    first = "".join(
        f"{_heading(f'Run {run}') if run else ''}{_answer(spoken(answer).blocks)}" for run, answer in verdicts.items()
    )
    headings, *lines = _grid(rows)
    grid = [headings, *([word(name, one) for name, one in zip(headings, line, strict=True)] for line in lines)]
    return _block(f"{_heading(_title(path, rows))}{first}{_table(grid)}{more}{_list(sentences(rows))}{_code(_next(rows))}")


def _answer(blocks: Sequence[Block]) -> str:
    """Return the blocks of an answer as HTML."""
    parts = []
    for block in blocks:
        if isinstance(block, Sentences):
            parts.append(_list(block.lines))
        elif isinstance(block, Entry):
            parts.append(_heading(block.heading) + _list([f"{label}: {text}" for label, text in block.texts]))
        else:
            cells = [
                [visible(words.as_text(value, column.format)) for value, column in zip(row, block.columns, strict=True)]
                for row in block.rows
            ]
            parts.append(_table([[column.header for column in block.columns], *cells]))
    return "".join(parts)


def comparison_as_html(paths: Mapping[str, str], rows: Sequence[RankRow], findings: Mapping[str, str]) -> str:
    """Return the compared runs as HTML, for a notebook: the runs, the finding if it is known, and lines to type."""
    headings = ("run", "folder", "ranks", "modules from", "read from")
    lines = [[visible(cell(one)) for one in (run, path, *_of_run(run, rows))] for run, path in paths.items()]
    found = [said(sentence) if len(findings) == 1 else f"{run}: {said(sentence)}" for run, sentence in findings.items()]
    ask = {
        **({} if findings else {"finding()": "What changed most, and is it more than noise?"}),
        "modules()": "Which modules changed?",
        "plot.modules()": "The same as a picture.",
        "idle()": "Why is the device idle for longer, or less long?",
    }
    asked = [f"comparison.{call}  # {said(meaning)}" for call, meaning in ask.items()]
    return _block(f"{_heading('Comparison of runs with a base')}{_table([headings, *lines])}{_list(found)}{_code(asked)}")


def _of_run(run: str, rows: Sequence[RankRow]) -> tuple[object, ...]:
    """Return how many ranks of a run can be read, and their sources."""
    of_run = [row for row in rows if row["run"] == run and not row["left_out"]]
    columns = [columns_of(row) for row in of_run]
    return len(of_run), *(
        ", ".join(dict.fromkeys(str(one[name]) for one in columns if one[name])) for name in ("modules from", "read from")
    )


def _next(rows: Sequence[RankRow]) -> list[str]:
    """Return lines to type next: first questions that a rank can answer."""
    answered = [name for name in ANALYSES if any(name in row["answers"] for row in rows)]
    first = [name for name in _FIRST_QUESTIONS if name in answered] or answered[:1]
    lines = [f"profile.{name.replace('-', '_')}()  # {ANALYSES[name].meaning.splitlines()[0]}" for name in first]
    return [*lines, *(["profile.plot.modules()  # The modules as a picture."] if "module-stats" in first else [])]


def _block(content: str) -> str:
    """Return HTML in which no `$` begins a formula, and which has the colours of the notebook, light or dark."""
    return f'<div class="tex2jax_ignore mathjax_ignore">\n{content}</div>'


def _heading(text: str) -> str:
    return f"<p><b>{escape(visible(said(text)))}</b></p>\n"


def _table(grid: Sequence[Sequence[str]]) -> str:
    headings, *lines = [[escape(one) for one in line] for line in grid]
    head = "".join(f"<th>{said(one)}</th>" for one in headings)
    body = "\n".join(f"<tr>{''.join(f'<td>{one}</td>' for one in line)}</tr>" for line in lines)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"


def _list(lines: Sequence[str]) -> str:
    items = "\n".join(f"<li>{escape(visible(said(one)))}</li>" for one in lines)
    return f"<ul>\n{items}\n</ul>\n" if lines else ""


def _code(lines: Sequence[str]) -> str:
    return f"<p>{said('Next:')}</p>\n<pre><code>{escape(chr(10).join(lines))}</code></pre>\n" if lines else ""


def _title(path: str, rows: Sequence[RankRow]) -> str:
    are_read = sum(not row["left_out"] for row in rows)
    return visible(f"Profile {path}: {are_read} of {len(rows)} ranks readable")


def _more(rows: Sequence[RankRow]) -> list[str]:
    return [f"  and {len(rows) - _MOST_RANKS} more: see .ranks()"] if len(rows) > _MOST_RANKS else []


def _grid(rows: Sequence[RankRow]) -> list[list[str]]:
    """Return headings and cells of the first ranks, without the columns that only ranks() needs; the rank comes first."""
    shown = [{name: one for name, one in columns_of(row).items() if name not in ("rank from", "files")} for row in rows]
    headings = sorted(shown[0], key=lambda name: name not in ("run", "rank"))
    return [headings, *([visible(cell(row[name])) for name in headings] for row in shown[:_MOST_RANKS])]
