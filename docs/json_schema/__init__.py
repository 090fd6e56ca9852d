"""Make the schema of the output of --json from the files here and the heads in sql/.

The wheel has it as prof_analysis/json.schema.json (docs/wheel.py); `python -m docs.json_schema` prints it.
"""

import json
from collections.abc import Mapping

from docs.json_schema.others import OTHERS
from prof_analysis.analyses import ANALYSES
from prof_analysis.analyses.answering import schema_of as of_analysis
from prof_analysis.analyses.schema import Schema, amount, count, fields, of_table, one_of, or_null, rows, tables_in, text, texts
from prof_analysis.common.version import SCHEMA_VERSION
from prof_analysis.engine.tables import documented_tables

# Command -> the schema of its summary.
FACTS: Mapping[str, Schema] = {**{command: of_analysis(command) for command in ANALYSES}, **OTHERS}
_COMMENT = (
    "It has all keys of this release: an output fits the schema of the release that "
    "wrote it. docs/json.md says when schema_version changes."
)

_RANK = fields(
    "run",
    run=text("name of the run, where there are several"),
    profile=text("folder of the rank, below the path that was given"),
    rank_id=or_null({"type": "integer", "description": "rank"}, "where no file names it"),
    rank_id_from=or_null(text("the file that names it"), "where none does"),
    device_id=or_null({"type": "integer", "description": "device"}, "where not recorded"),
    profiler_level=or_null(text("level of the profiler"), "where not recorded"),
    source=or_null(text("what it is read from"), "where nothing can be read"),
    modules_from=or_null(text("what marks the modules"), "where nothing does"),
    answers=texts("commands that answer, with rows or with what was not found"),
    may_answer=texts("empty, as each command is in answers or unanswered"),
    unanswered=texts("commands that cannot answer, each with the reason, as in `mfu: reason`"),
    better_recording=or_null(text("what would answer more of them"), "where nothing would"),
    missing=texts("what was not collected or found"),
    unread=texts("further files that cannot be read, each with the reason"),
    left_out=or_null(text("why nothing can be read"), "where it can"),
    files=texts("its files"),
    folder=text("its folder"),
    metadata=texts("what the user added to the recording with add_metadata(), as in `lr: 0.001`"),
)
_ENTRY = fields(
    folder=text("folder of the entry"),
    profile=text("folder of the rank"),
    inputs=texts("the files that it was made of"),
    tables=texts("the tables that it keeps"),
    size_bytes=amount("size of its files", "bytes"),
    is_current={"type": "boolean", "description": "whether the files that it was made of are unchanged"},
)
_COLUMN = fields(name=text("column"), type=text("its type in SQL"), meaning=text("what it holds, its unit, when it is NULL"))
_TABLE = fields(
    name=text("table"), meaning=text("what a row is"), columns=rows("its columns, or those that were looked for", _COLUMN)
)
_CASE = fields(
    file=text("its page"),
    line=count("line of the page where it begins"),
    name=text("its heading"),
    failures=texts("what is wrong with the rows that the table has; empty where the case holds"),
)
_ROWS = {
    "type": "array",
    "items": {"type": "object"},
    "description": "rows by column; of a table those that `prof-analysis tables NAME --json` documents",
}
_FILES = {"files": texts("files that were written")}
_FOUND = {
    "warnings": texts("what to know about the figures"),
    "failures": texts("ranks or files that could not be read, each with the reason"),
}
# Command -> its keys beside schema_version, command and status. What has failures can be partial, or not be
# written though there is an answer.
_CONTENT: Mapping[str, Mapping[str, Schema]] = {
    **{command: {**_FILES, **_FOUND} for command in FACTS},
    "table": {**_FILES, "rows": _ROWS, **_FOUND},
    "sql": {"rows": _ROWS, **_FOUND},
    "report": {**_FILES, **_FOUND},
    "timeline": {**_FILES, **_FOUND},
    "ranks": {"ranks": rows("the ranks that were found", _RANK)},
    "tables": {"tables": rows("the tables that were found", _TABLE)},
    "test": {"cases": rows("the cases that were tried", _CASE)},
    "collect": _FILES,
    "cache ls": {"entries": rows("what is kept", _ENTRY)},
    "cache clear": {
        "size_bytes": amount("how much was removed", "bytes"),
        "removed": texts("folders that were removed"),
        "in_use": texts("folders that stay, since another process uses them"),
    },
}


def schema() -> Schema:
    """Return the schema of the output of any command."""
    commands = {_name(command): _of_command(command, content) for command, content in _CONTENT.items()}
    facts = {f"summary-of-{command}": {**one, "title": f"summary of {command} --json"} for command, one in FACTS.items()}
    tables = {name: of_table(documented_tables()[name]) for name in sorted({*tables_in(facts), *tables_in(commands)})}
    without_answer = {"not": {"required": ["failures"]}, "properties": {"status": {"const": "error"}}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:prof-analysis:json:{SCHEMA_VERSION}",
        "$comment": _COMMENT,
        "title": "what prof-analysis prints with --json",
        "if": without_answer,
        "then": {"$ref": "#/$defs/error"},
        "else": {
            "properties": {"command": {"enum": list(_CONTENT)}},
            "required": ["command"],
            "allOf": [
                {"if": {"properties": {"command": {"const": command}}}, "then": {"$ref": f"#/$defs/{_name(command)}"}}
                for command in _CONTENT
            ],
        },
        "$defs": {"error": _error(), **commands, **facts, **tables},
    }


def _name(command: str) -> str:
    """Return the name of a command's definition, which is part of references."""
    return command.replace(" ", "-")


def _begin(command: Schema, *status: str) -> dict[str, Schema]:
    """Return the keys that every output begins with."""
    return {
        "schema_version": {"const": SCHEMA_VERSION, "description": "version of the keys, as docs/json.md has it"},
        "command": command,
        "status": one_of("done; partial: some ranks failed; error: the message says why", *status),
    }


def _error() -> Schema:
    """Return the schema of an output without an answer."""
    command = or_null(text("the command"), "where the words name none")
    return {
        **fields(
            **_begin(command, "error"),
            message=text("what is wrong, where, and what to do"),
            warnings=texts("what may explain it"),
        ),
        "title": "what any command prints where it cannot answer",
    }


def _of_command(command: str, content: Mapping[str, Schema]) -> Schema:
    """Return the schema of the output of a command that has an answer."""
    status = ("done", "partial", "error") if "failures" in content else ("done",)
    begin = _begin({"const": command}, *status)
    title = {"title": f"{command} --json"}
    if "failures" not in content:
        return {**fields(**begin, **content), **title}
    message = text("with the status error: why the files could not be written, though there is an answer")
    facts: dict[str, Schema] = {}
    if command in FACTS:
        of_run = {"$ref": f"#/$defs/summary-of-{command}"}
        several = {"type": "object", "additionalProperties": of_run, "description": "where there are several, that of each run"}
        facts = {"summary": of_run, "runs": several}
        if command in ANALYSES and (over_runs := ANALYSES[command].over_runs):
            facts["all_runs"] = {**over_runs(), "description": "where there are several runs, what concerns all of them"}
    one = fields("message", "summary", "runs", "all_runs", **begin, message=message, **facts, **content)
    is_error = {"properties": {"status": {"const": "error"}}}
    with_message = {"if": is_error, "then": {"required": ["message"]}, "else": {"properties": {"message": False}}}
    answered: list[Schema] = [{"required": ["summary"]}, {"required": ["runs"]}]
    if command == "compare":  # With --suggest-aliases, where the runs have no module in common before the aliases are checked.
        answered.append({"not": {"anyOf": answered.copy()}})
    of_facts = {"oneOf": answered} if facts else {}
    return {**one, **with_message, **of_facts, **title}


def keys_without_summary() -> dict[str, list[str]]:
    """Return the keys of each command that has no summary."""
    return {command: list(content) for command, content in _CONTENT.items() if command not in FACTS}


def text_of_file() -> str:
    """Return the text of the file in the wheel."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"
