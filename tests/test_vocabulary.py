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
# Table -> (the words that it knows, and why it may).
OPTION = "the word is what users pass as --module-source"
SENTENCE = "a sentence for users, which says how to collect what is missing"
SWITCH = "a sentence for users, which says what to set or to run"
RULE = "it is the name of a rule"
OUTPUT = "the words are values of a column that users read"
OPERATORS = "formulas are of operators, which have names"
COUNTERS = "counters are of one kind of hardware, and have names"
LAYOUT = "padded layouts are of one kind of hardware"
GRAPHS = "TorchAir compiles graphs on this hardware alone"
EXCEPTIONS: dict[str, tuple[set[str], str]] = {
    "advice.memory_fragmentation": ({"npu_alloc_conf"}, SENTENCE),
    "advice.out_of_memory": ({"npu_alloc_conf"}, SENTENCE),
    "advice.allocator_stall": ({"npu_alloc_conf"}, SENTENCE),
    "op.host_time": ({"dataloader"}, "PyTorch itself names its op so, on any device"),
    "advice.cube_idle": ({"cube_idle"}, RULE),
    "advice.exposed_communication": (
        {"npu", "npu_all_gather_base_mm", "npu_mm_all_reduce_base", "npu_mm_reduce_scatter_base"},
        SWITCH,
    ),
    "free.host_stretch": ({"dataloader"}, "PyTorch itself names its op so, on any device"),
    "stack.frame_call": ({"nn.module"}, "PyTorch itself names its rows so, on any device"),
    "graph.call": ({"executegraph", "torchnpugraphbase"}, GRAPHS),
    "graph.entry": ({"torchair"}, GRAPHS),
    "graph.event": ({"executegraph", "npu_fx_compiler", "torchnpugraphbase"}, GRAPHS),
    "graph.statistic": ({"torchair"}, GRAPHS),
    "across.graph_phase": ({"torchair"}, GRAPHS),
    "chain.symbol": ({"aicore"}, OPERATORS),
    "kernels.role": ({"aclnn", "aicore", "transdata"}, OPERATORS),
    "layer.symbol": ({"aicore", "mla_"}, OPERATORS),
    "mfu.counted": ({"aic_", "mac"}, COUNTERS),
    "mfu.family": (
        {"aicore", "backpropfilter", "backpropinput", "flashattention", "flashattentionscore", "flashattentionscoregrad"},
        OPERATORS,
    ),
    "mfu.matrix_unit": ({"aic_"}, COUNTERS),
    "mfu.peak": ({"cube_utilization", "info.json"}, SENTENCE),
    "mfu.plain_shape": ({"transdata"}, LAYOUT),
    "mfu.recorded": ({"memset"}, OPERATORS),
    "mfu.tensor": ({"fractal_nz"}, LAYOUT),
    "mfu.utilisation": ({"flashattentionscore"}, OPERATORS),
    "mfu.vector_shape": ({"aic_", "cube_fops", "mac"}, COUNTERS),
    "module.range": ({"mstx"}, OPTION),
    "mstx.event": ({"dataloader", "save_checkpoint"}, OUTPUT),
    "pmu.kernel_counters": ({"aic_", "aiv_", "cube_utilization", "fixpipe", "mte1", "mte2", "mte3"}, COUNTERS),
    "pmu.metric": ({"aic_", "aiv_"}, COUNTERS),
}


def found_words() -> Iterator[tuple[str, str]]:
    """Give each table right of trace.* with each word that its SELECT knows. Heads are for people, those of rules too."""
    for name in documented_tables():
        if name.startswith("trace."):
            continue
        file = sql_folder() / f"{name.replace('.', '/')}.sql"
        code = re.sub(r"--[^\n]*", "", file.read_text(encoding="utf-8"))
        for literal in re.findall(r"'(?:[^']|'')*'", code):
            yield from ((name, word.lower()) for word in WORDS.findall(literal))
        yield from ((name, word) for word in MACROS.findall(code))


def test_names_of_one_vendor_are_read_by_sources_alone() -> None:
    known: dict[str, set[str]] = {}
    for name, word in found_words():
        known.setdefault(name, set()).add(word)
    assert known == {name: words for name, (words, _) in EXCEPTIONS.items()}
