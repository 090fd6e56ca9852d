"""The help of the commands: their groups, examples that run, and the tables that they write."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import typer

from prof_analysis.analyses import ANALYSES, COMPARED
from prof_analysis.cli.plain_values import read_plainly
from prof_analysis.cli.speaking import in_english, speak
from prof_analysis.common.option_docs import MACHINE, SHOW, documented
from prof_analysis.common.options import ProfileOptions
from prof_analysis.languages import said

# The groups of commands that are no analyses.
CHANGE, LOOK_UP, KEEP = "What changed", "Look up", "Keep"
# What the help calls the values of options that are paths.
PATHS = ("PATH", "FILE", "DIR")

# Command -> what an example does -> its words; `result` is a folder of a profile. Analyses have their own, and two more.
_EXAMPLES: Mapping[str, Mapping[str, str]] = {
    "stage-durations": {
        "One log, or several": "server.log server.log.1.gz",
        "From stdin": "- < server.log",
    },
    "compare": {
        "What changed since yesterday": "monday tuesday",
        "The same model with other names of modules": "monday tuesday --alias names.csv",
        "The same as one HTML file with pictures": "monday tuesday --export-type html -o changes.html",
        "Several runs with one base, in files": "monday tuesday wednesday --export-type csv -o out",
    },
    "report": {
        "All answers in one file, to look at or to mail": "result -o report.html",
        "One rank, each layer by itself": "result --rank-list 0 --instances -o rank0.html",
    },
    "timeline": {
        "Each rank, for ui.perfetto.dev": "result -o out",
        "One step": "result --step-id 11 -o out",
    },
    "ranks": {
        "A folder of a rank, or a tree of them": "result",
        "The same for a script": "result --json",
    },
    "tables": {
        "All tables, a line each": "",
        "Search: all of these words": "idle cause",
        "One table with its columns": "module.kernel",
    },
    "table": {
        "The first rows of a table": "module.tree -d result",
        "All rows in a file": "module.tree -d result --export-type csv -o out",
    },
    "sql": {
        "The types of kernels that cost most": '-d result "SELECT type, sum(duration_ns) AS ns\n'
        '      FROM trace.kernel GROUP BY ALL ORDER BY ns DESC LIMIT 5"',
        "A column for each rank": '-d result "PIVOT module.tree ON rank_id\n'
        '      USING sum(own_kernel_duration_ns) GROUP BY module"',
        "A query in a file, rows as csv": "-d result -f query.sql --csv > rows.csv",
        "Columns of a table; SHOW TABLES lists tables": '-d result "DESCRIBE trace.kernel"',
    },
    "test": {"The cases of all tables in a folder": "own", "The same for a script": "own --json"},
    "verify": {
        "All recipes that can be compared": "result",
        "One of them": "result -m compute_op_sum",
    },
    "collect": {"The file, to take to a training image": ".", "The same for a script": ". --json"},
    "cache ls": {"Kept entries, and their size": ""},
    "cache clear": {"Remove all that is kept": ""},
}


def examples_of(command: str) -> Mapping[str, str]:
    """Return the examples in the help of a command: command lines by purpose."""
    examples = _EXAMPLES.get(command, {})
    if command in ANALYSES:
        examples = {
            "All ranks": "result",
            **ANALYSES[command].examples,
            "All columns and rows in files": "result --export-type csv -o out",
        }
    return {purpose: f"prof-analysis {command} {words}".rstrip() for purpose, words in examples.items()}


def _shown(examples: Iterable[tuple[str, str]]) -> str:
    """Return examples as text, behind an empty line."""
    from rich.markup import escape

    return (
        "\n"
        + said("Examples:")
        + "\n"
        + "\n".join(f"  {said(f'{purpose}:')}\n    {escape(line)}" for purpose, line in examples)
    )


# So many examples stand before the options; the others are shown with all of them.
_EXAMPLES_FIRST = 2
_shown_all: list[bool] = []


def _rare_options() -> set[str]:
    """Return the options that few people need: those of the machine, and others that say so."""
    of_profile = documented(ProfileOptions).items()
    return {"quiet", "debug", "lang", *(name for name, (_, doc) in of_profile if doc.is_rare or doc.section == MACHINE)}


def show_all_options() -> None:
    """Let the help show the options that few people need, too."""
    _shown_all.append(True)


class Command(typer.core.TyperCommand):
    """A command whose help begins with two examples, and has neither types of Python nor, but with --help-all, what is rare."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help: what the command answers, two examples, its options; with --help-all everything."""
        examples = list(examples_of(ctx.command_path.partition(" ")[2]).items())
        speak(self, [self])
        meaning, end = self.help, self.epilog
        # Below one paragraph alone, typer takes the indentation away but for a further empty line.
        between = "\n" if "\n\n" in str(meaning) else "\n\n"
        self.help = f"{meaning}{between}{_shown(examples if _shown_all else examples[:_EXAMPLES_FIRST])}"
        self.epilog = said(self.end_of_help(ctx.command_path) or "") or None
        try:
            super().format_help(ctx, formatter)
        finally:
            self.help, self.epilog = meaning, end

    def end_of_help(self, command_path: str) -> str | None:
        """Return the sentence below the options: where there is more help."""
        return None if _shown_all else f"All options and examples: {command_path} --help-all"

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters; typer would show the type of an argument, such as list[str], beside its name."""
        params = super().get_params(ctx)
        # Commands about the cache alone have none.
        is_about_profile = any(one.name == "anonymize" for one in params)
        rare = _rare_options() if is_about_profile else set()
        for one in params:
            read_plainly(one)
            if one.name in rare:
                vars(one)["hidden"] = not _shown_all
            if meaning := in_english(one, "help"):
                brief = is_about_profile and not _shown_all
                vars(one)["help"] = _brief(said(meaning)) if brief else said(meaning)
            vars(one)["rich_help_panel"] = said(in_english(one, "rich_help_panel") or "") or None
            if isinstance(one, typer.core.TyperArgument):
                vars(one)["display_type_rich"] = lambda **_: ""
        return params

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; an empty one in place of a path is an empty variable of a shell, and would be the current folder."""
        if any(not word or word.endswith("=") for word in args):
            options = {word: one for one in self.get_params(ctx) for word in one.opts if word.startswith("-")}
            for before, word in zip(("", *args), args, strict=False):
                name, is_joined, value = word.partition("=") if word.startswith("--") else (before, "", word)
                if word.startswith("-") and not is_joined:
                    continue
                option = options.get(name.replace("_", "-"))
                takes_value = option is not None and not option.is_flag
                is_argument = not is_joined and not takes_value and (option is not None or not name.startswith("-"))
                if not value and (is_argument or (option is not None and takes_value and option.metavar in PATHS)):
                    problem = "a word is empty; give a folder or file (or is a variable of the shell empty?)"
                    raise typer.BadParameter(problem, param_hint=None if is_argument else name)
        return list(super().parse_args(ctx, args))

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option --help."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.rich_help_panel, option.metavar = SHOW, ""
            option.help = "Show this help; --help-all shows all."
        return option


# In English or Chinese: what ends a clause, and what stands before an example.
_CLAUSE_END = re.compile(r"; |\. |；|。")  # noqa: RUF001
_EXAMPLE = re.compile(r" Example: |示例：")  # noqa: RUF001


def _brief(meaning: str) -> str:
    """Return what an option does, without what --help-all says of it behind a semicolon or full stop."""
    example = _EXAMPLE.search(meaning)
    does = meaning[: example.start()] if example else meaning
    end = does[-1:] if does[-1:] in "。." else "."
    return f"{_CLAUSE_END.split(does.rstrip('.。'))[0]}{end}{meaning[example.start() :] if example else ''}"


class AnalysisCommand(Command):
    """A command whose help names the tables that it writes, where all is shown."""

    def end_of_help(self, command_path: str) -> str | None:
        """Return the tables that the command writes, or where there is more help."""
        return written_by(str(self.name)) if _shown_all else super().end_of_help(command_path)


def written_by(command: str) -> str:
    """Return a sentence that names the tables and files that a command writes."""
    from prof_analysis.exports.names import file_name

    tables, more = _tables_of(command)
    first, *others = tables.values()
    names = f"tables {', '.join((first, *others[:-1]))} and {others[-1]}" if others else f"table {first}"
    return (
        f"With --export-type or -o it writes the {names}{''.join(more)}: into cluster_analysis.db, workbooks, a DuckDB file, "
        f"or files such as {file_name(first)}.csv, below cluster_analysis_output."
    )


def _tables_of(command: str) -> tuple[Mapping[str, str], list[str]]:
    """Return the names in exports of the tables that a command writes, and words about those that it writes only sometimes."""
    if command == "compare":
        return COMPARED, []
    if command not in ANALYSES:
        from prof_analysis.logs.vllm_stages import EXPORTS  # It imports DuckDB.

        return EXPORTS, []
    analysis = ANALYSES[command]
    more = {"for several ranks": analysis.of_several_ranks}
    by = {rows.extra: f"by {name.replace('_', '-')}" for name, rows in analysis.rows.items()}
    more |= {f"with --{by.get(name, name)}": extra.exports for name, extra in analysis.extras.items()}
    return analysis.exports, [f", {when} {', '.join(tables.values())}" for when, tables in more.items() if tables]
