"""The report of a profile: it asks all questions in one go, and makes a page of the answers."""

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prof_analysis.analyses import ANALYSES, overview
from prof_analysis.analyses.answer import Answer, ShownColumn, ShownTable
from prof_analysis.analyses.answering import answer_of, answer_over_runs
from prof_analysis.analyses.asked import OpenProfile
from prof_analysis.analyses.overview import RankRow
from prof_analysis.analyses.tree import BACKWARD
from prof_analysis.analyses.words import several
from prof_analysis.common.errors import InputError
from prof_analysis.common.version import __version__
from prof_analysis.pictures.figures.plots import TABLES
from prof_analysis.pictures.report.matters import Matter, matters, not_answered
from prof_analysis.pictures.report.page import Page, file_for, write_page
from prof_analysis.pictures.report.parts import Notes, Part, Section, Table, plain, table
from prof_analysis.pictures.report.sections import OPTIONAL, SECTIONS, Found, commands_of, sections_of
from prof_analysis.pictures.report.verdict import said_by_verdict, verdict_of

_ROWS = 100
# Of 2015: no such profiles are older.
_FIRST_DAY_NS = 1_420_070_400 * 10**9
_MOST_RANKS = 100
# Options of answers: the table of modules has the MFU of modules already.
_SHOWN = {"mfu": {"by": "op"}}
_ONE_RANK = "one rank alone cannot be compared; open a folder with several ranks of a job"
# What the table beside the icicle reads.
_COSTS = "across.module_cost_by_shapes"


def report(profile: OpenProfile, file: Path) -> Path:
    """Write the report of a profile into an HTML file, and return the file.

    Raises InputError when no rank can answer any question, OutputError when the file cannot be written.
    """
    file = file_for(file)
    ranks = profile.rank_rows()
    found = _found(profile, ranks)
    sections = sections_of(found)
    title = plain(Path(profile.anonymous(str(profile.path.resolve()))).name or "Report")
    verdict = verdict_of(found.answers, sections)
    page = Page(title, _about(found, ranks), _matters(found), sections, made_of(profile, ranks), foot_of(profile), verdict)
    return write_page(page, file)


def _found(profile: OpenProfile, ranks: list[dict[str, Any]]) -> Found:
    """Return the answers to all questions of the report, for which the files are read once."""
    commands = ["advise", "diagnose", *(command for section in SECTIONS for command in commands_of(section))]
    asked = [command for command in commands if any(command in row["answers"] for row in ranks)]
    reasons: dict[str, list[str]] = {command: _why_not(command, ranks) for command in commands if command not in asked}
    shown = [ANALYSES[command].as_shown() for command in asked]
    tables = [name for analysis in shown for name in (*analysis.tables, *analysis.of_several_ranks)]
    pictured = [name for command, also in TABLES.values() if command in asked for name in also]
    profile.provide(tuple(dict.fromkeys((*tables, *pictured, "trace.device", *([_COSTS] if "module-stats" in asked else [])))))
    answers: dict[str, dict[str, Answer]] = {}
    for run in profile.runs or ("",):
        with profile.only(run) if run else nullcontext():
            answers[run] = {
                command: answer_of(profile, command, _ROWS, **_SHOWN.get(command, {}))
                for command in asked
                if profile.has_answer(command)
            }
            if len(profile.rows("FROM across.slow_rank")) < 2:
                answers[run].pop("slow-ranks", None)
            elif "module-stats" in answers[run]:
                answers[run]["across-ranks"] = answer_of(profile, "module-stats", _ROWS, by="rank")
    for command in asked:
        if not any(command in one for one in answers.values()):
            reasons[command] = [_ONE_RANK if command == "slow-ranks" else profile.said_of_nothing(command)]
    if not asked:
        raise InputError(
            f"{profile.path}: no rank can answer a question of the report: {next(iter(reasons.values()))[0]}", path=profile.path
        )
    together = {command: answer for command in asked if (answer := answer_over_runs(profile, command)) and answer.blocks}
    return Found(profile, answers, reasons, together)


def _why_not(command: str, ranks: list[dict[str, Any]]) -> list[str]:
    """Return the reasons why no rank can answer a command."""
    found = [one.split(": ", 1) for row in ranks for one in row["unanswered"]]
    return list(dict.fromkeys(reason for asked, reason in found if asked == command))


def _matters(found: Found) -> list[tuple[str, list[Matter]]]:
    """Return what matters of each run below its name, and last what no run can answer."""
    said = [
        (
            plain(f"Run {run}") if run else "",
            matters({one: answer.facts for one, answer in answers.items()}, said_by_verdict(answers)),
        )
        for run, answers in found.answers.items()
    ]
    known = {command: reasons for command, reasons in found.reasons.items() if reasons != [_ONE_RANK]}
    lacking = list(not_answered({command: reasons for command, reasons in known.items() if command not in OPTIONAL}))
    if lacking and len(said) == 1:
        return [(said[0][0], said[0][1] + lacking)]
    return [*said, *([("All runs", lacking)] if lacking else [])]


def made_of(profile: OpenProfile, ranks: list[dict[str, Any]]) -> Section:
    """Return the section that says how the page was made: the command, the files, missing data, and warnings."""
    lines = [
        f"Command: {profile.command_line()}",
        f"prof-analysis {__version__}, {datetime.now(UTC).strftime('%Y-%m-%d %H:%M')} UTC",
    ]
    problems = [f"warning: {one}" for one in profile.warnings] + [f"failed: {one}" for one in profile.failures]
    parts: list[Part] = [
        Notes([plain(line) for line in lines]),
        table_of_ranks(ranks),
        Notes([plain(line) for line in (*overview.sentences(ranks), *problems)]),
    ]
    return Section("made", "How it was made", "Which files, which command, and what is missing?", parts)


def table_of_ranks(ranks: Sequence[RankRow]) -> Table:
    """Return the ranks as a table; of many those that answer least, and the others as one row with what they have in common."""
    cells = [overview.columns_of(row) for row in ranks]
    if len(cells) > _MOST_RANKS:
        in_order = sorted(range(len(ranks)), key=lambda place: len(ranks[place]["answers"]))
        shown, others = sorted(in_order[: _MOST_RANKS - 1]), [cells[place] for place in in_order[_MOST_RANKS - 1 :]]
        common = {header: value if all(one[header] == value for one in others) else None for header, value in others[0].items()}
        cells = [*(cells[place] for place in shown), {**common, "folder": f"other ({several(len(others), 'rank')})"}]
    columns = tuple(ShownColumn(header, "count" if header in ("rank", "device") else "text") for header in cells[0])
    return table(ShownTable(columns, tuple(tuple(one.values()) for one in cells)), "Ranks")


def foot_of(profile: OpenProfile) -> str:
    """Return the sentence at the foot of a page: whether it may be sent to others as it is."""
    if profile.is_anonymous:
        return "Anonymised: paths, hosts, addresses, users and their code are replaced. Names of modules, ops and marks stay."
    return "Not anonymised: paths, hosts and users are named as they are; --anonymize replaces them."


def _about(found: Found, ranks: Sequence[RankRow]) -> list[str]:
    """Return the profile in a few words: its ranks, devices, model and day."""
    profile = found.profile
    about = [several(len(ranks), "rank")]
    about += [
        row["name"] for row in profile.rows("SELECT DISTINCT name FROM trace.device WHERE name IS NOT NULL ORDER BY name")
    ]
    if profile.runs:  # Each has a model and a day of its own.
        return [plain(one) for one in (*about, f"prof-analysis {__version__}")]
    if found.has("module-stats"):
        outermost = profile.rows(
            "SELECT module FROM across.module_time WHERE parent_module = '' ORDER BY computing_ns DESC LIMIT 1"
        )
        about += [row["module"].removeprefix(BACKWARD) for row in outermost]
    if found.has("step-time"):
        (begin,) = profile.rows("SELECT min(start_ns) AS start_ns FROM timeline.usual_step")
        # A clock that begins with the machine says no day.
        if begin["start_ns"] is not None and begin["start_ns"] > _FIRST_DAY_NS:
            about.append(datetime.fromtimestamp(begin["start_ns"] // 10**9, UTC).strftime("recorded %Y-%m-%d %H:%M UTC"))
    return [plain(one) for one in (*about, f"prof-analysis {__version__}")]
