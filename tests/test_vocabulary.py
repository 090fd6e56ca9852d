"""Names that CANN, HCCL and torch_npu give are read by sources alone: right of trace.* they are roles of the contract."""

import re
from collections.abc import Iterator

from prof_analysis.engine.statements import sql_folder
from prof_analysis.engine.tables import documented_tables

# What these name, in the literals of a body: calls, tasks, kernels, cores, links, counters, formats, marks, files, switches.
WORDS = re.compile(
    "|".join(
        [
            r"aclnn\w*", r"aclrt\w*", r"aclop\w*", r"hcom\w*", r"\w*hccl\w*", r"notify\w*", r"mem_?(?:co?py|set)\w*",
            r"reduce.inline", r"\w*synchronize\w*", r"on_chip", r"hccs", r"sdma", r"profilerstep",
            r"ai_?(?:core|vector_core|cpu)", r"mix_ai[cv]", r"(?:torch)?(?<!i)npu\w*", r"torchair", r"fractal\w*",
            r"ai[cv]_", r"mte\d", r"\bmac\b", r"fixpipe", r"cube_\w+", r"mstx", r"dataloader",
            r"save_checkpoint", r"mfu_flops", r"flash_attn_args", r"transdata",
            r"flashattention\w*", r"backprop\w*", r"mla_", r"executegraph", r"\bcann\b", r"\blevel[012]", r"profiler_level",
            r"gc_detect_threshold", r"\w+\.(?:json|csv|db)", r"nn\.module",
        ]
    ),
    re.IGNORECASE,
)  # fmt: skip
# Macros that know such names.
MACROS = re.compile(
    r"\b(?:type|operation|direction)_of_\w+(?=\()|\brole_of_\w+(?=\()|\bengine_of_\w+(?=\()|\bis_name_of_step(?=\()"
    r"|\bis_within_device(?=\()|\bname_without_group(?=\()"
)
# The comment in the file of a table, beside the word, that says why it may know it.
KNOWS = re.compile(r"-- Knows ([\w., ]+): \S")


def texts() -> Iterator[tuple[str, str]]:
    """Give each table right of trace.* with the text of its file."""
    for name in documented_tables():
        if not name.startswith("trace."):
            yield name, (sql_folder() / f"{name.replace('.', '/')}.sql").read_text(encoding="utf-8")


def words_in(name: str, text: str) -> set[str]:
    """Return the words that the SELECT of a table knows, but its own name. Heads are for people, those of rules too."""
    code = re.sub(r"--[^\n]*", "", text)
    literals = re.findall(r"'(?:[^']|'')*'", code)
    words = {word.lower() for literal in literals for word in WORDS.findall(literal)} | set(MACROS.findall(code))
    return words - {name.partition(".")[2]}


def test_names_of_one_vendor_are_read_by_sources_alone() -> None:
    known, said = {}, {}
    for name, text in texts():
        known[name] = words_in(name, text)
        said[name] = {word for words in KNOWS.findall(text) for word in words.split(", ")}
    unsaid = {name: words - said[name] for name, words in known.items() if words - said[name]}
    assert not unsaid, "read these in a source, or say why not beside them: `-- Knows WORD, WORD: REASON`"
    assert {name: words - known[name] for name, words in said.items() if words - known[name]} == {}, "nothing knows these"


def test_a_word_of_one_vendor_is_found_in_texts_of_a_select_and_in_macros() -> None:
    assert words_in("a.b", "-- One row is 'hccl'.\nSELECT 'x' -- 'aclnn'\n, hccl, 'An HCCL_op' AS x") == {"hccl_op"}
    assert words_in("a.b", "SELECT role_of_call(name)") == {"role_of_call"}
    assert words_in("a.mstx", "SELECT 'mstx', 'mte1'") == {"mte1"}
