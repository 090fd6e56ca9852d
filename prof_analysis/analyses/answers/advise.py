"""The analysis `advise`: what should be changed first, and what can it win?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import FIRST, Analysis, Rows
from prof_analysis.analyses.answer import USUAL_ROWS, Block, Entry, Facts, Source, job_of, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import duration, percent, several, steps_of
from prof_analysis.common.capabilities import any_of
from prof_analysis.common.option_docs import INPUT, MACHINE, MODULES

ANALYSIS = Analysis(
    "advise",
    "What should be changed first, and what can it win?\n\n"
    "Shows findings, the one with the most time to win first: where it is, the evidence, and what to do. Wins overlap: "
    "never add them up.",
    "kernels",
    {"advice.finding": "Finding", "advice.finding_of_rank": "FindingOfRank", "advice.threshold": "Threshold"},
    requires=(any_of("kernels", "reported_steps", "allocator"),),
    options=(INPUT, MODULES, MACHINE, "thresholds", "peak_tflops"),
    also=("step.overlap", "across.judged_rank", "across.rank_step", "across.job", "mfu.judged_share"),
    counted="across.judged_rank",
    rows={"finding": Rows("advice.finding")},
    place=9,
    heading=FIRST,
    examples={
        "Only findings of a twentieth of the step or more": "result --threshold every.least_share=0.05",
        "The same for a script": "result --json",
    },
    returns="""Return changes to make, the finding with the most time to win first.

    Wins overlap: never add them up. rules() says which rules lack data.
    Raises InputError when no rank holds kernels, step times reported by the profiler, or a memory snapshot.
    """,
    keys=lambda: schema.answer(
        job=schema.JOB,
        findings=schema.rows(
            "what to change first", schema.row("advice.finding", command=schema.text("command line that shows the evidence"))
        ),
        steps_of_ranks=schema.rows("how long the steps of each rank take, by which wins are divided", "across.rank_step"),
        products=schema.rows("how much of the matrix products of each rank can be judged", "mfu.judged_share"),
        step_count=schema.count("steps; 0 where none are recorded"),
        has_steps={"type": "boolean", "description": "whether steps are recorded; else the whole recording counts as one"},
        judged=schema.texts("rules by which at least one rank can be judged"),
        not_judged=schema.rows(
            "rules by which ranks cannot be judged",
            schema.fields(
                rule=schema.text("the rule"),
                reason=schema.text("the data that ranks lack"),
                ranks=schema.count("ranks that lack it"),
                level=schema.or_null(schema.count("level of prof_analysis.collect that records it"), "where none does"),
            ),
        ),
    ),
)

Row = Mapping[str, Any]
# So many findings are shown with their evidence; where somebody asks for another number than usual, all of these.
_EXPLAINED = 5
# Rules that judge matrix products by their FLOPs, and the share of their time below which they judge few.
_OF_PRODUCTS = ("slow_attention", "slow_matmul", "small_matmuls")
_FEW = 0.5
# So many rules are named in a sentence; --json names all.
_NAMED = 6
_LONGEST = 60
OF_STEPS = "wins are per step; the evidence is over all steps of a rank"
_KINDS = {
    "exact cause": "this time goes when the cause goes",
    "upper bound": "no more than this",
    "hint": "no time can be given",
}


def advise(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
    """Return the findings with the most time to win, and the rules that lack data."""
    findings = profile.rows(f"FROM advice.finding LIMIT {top:d}")
    facts, of_job = facts_of(profile)
    facts["findings"] = [{**row, "command": profile.query_line(row["sql"])} for row in findings]
    if not findings:
        return facts, [said(*how_to_read(facts), *of_job, *lacking(facts))]
    columns: dict[str, Source] = {
        "finding": ("text", lambda row: f"{row['number']}. {row['title']}"),
        "win per step": ("time", itemgetter("win_ns_per_step")),
        "of step": "win_share",
        "also in": ("text", lambda row: row["also_in"]),
        "where": ("text", place_of),
    }
    shown = numbered(facts["findings"])
    if not any(row["also_in"] for row in shown):
        del columns["also in"]
    return facts, [
        table_of("advice.finding", shown, columns),
        *_entries(shown[: _explained(top)]),
        said(*how_to_read(facts), *of_job, *_more(facts, profile, top), *lacking(facts)),
    ]


def facts_of(profile: Tables) -> tuple[Facts, list[str]]:
    """Return how many findings there are, what they refer to, and which rules were judged; and a line about missing ranks."""
    rules = profile.rules()
    job, of_job = job_of(profile)
    (steps,) = profile.rows("SELECT count(DISTINCT step_id) AS step_count FROM step.time WHERE stage_ns IS NOT NULL")
    return {
        **size_of(profile, "advice.finding", "across.judged_rank"),
        **job,
        "steps_of_ranks": profile.rows("FROM across.rank_step"),
        "products": profile.rows("FROM mfu.judged_share"),
        **steps,
        "has_steps": bool(profile.rows("SELECT 1 FROM step.time WHERE step_id IS NOT NULL LIMIT 1")),
        "judged": [row["rule"] for row in rules if row["reason"] is None],
        "not_judged": [row for row in rules if row["reason"] is not None],
    }, of_job


def numbered(findings: Sequence[Row]) -> list[dict[str, Any]]:
    """Return findings with their numbers, and the number of the one above that may count the same time."""
    number_of = {row["finding_id"]: number for number, row in enumerate(findings, 1)}
    return [{**row, "number": number_of[row["finding_id"]], "also_in": number_of.get(row["shared_with"])} for row in findings]


def place_of(row: Row) -> str | None:
    """Return where a finding is: its module, op and type of kernels, its rank and its phase, as far as it has them."""
    rank = None if row["rank_id"] is None else f"rank {row['rank_id']}"
    return ", ".join(filter(None, (row["module"], row["op"], _short(row["kernel_type"]), rank, _phase_of(row)))) or None


def _phase_of(row: Row) -> str | None:
    """Return the phase of the passes in which a finding lies, and how much of its time, if that is not all."""
    if row["phase"] is None:
        return None
    share = "" if row["phase_share"] == 1 else f"{percent(row['phase_share'])} "
    return f"{share}in {row['phase']} passes"


def _short(name: str | None) -> str | None:
    """Return the name of a type of kernels; of one in C++ or with all choices of its tuning, the begin and the end."""
    return name if name is None or len(name) <= _LONGEST else f"{name[: _LONGEST - 15]}...{name[-12:]}"


def win_of(row: Row) -> str:
    """Return the win of a finding."""
    win = row["win_ns_per_step"]
    if win is None:
        return "no time can be given"
    return f"{duration(win)} of a step ({percent(row['win_share'])}, {row['kind']})" if win else "nothing to win"


def shared_of(row: Row) -> str | None:
    """Return which finding above it may count the same time, by its number, and how much of it."""
    if row["also_in"] is None:
        return None
    shared, win = row["shared_ns_per_step"], row["win_ns_per_step"]
    return f"{row['also_in']}: it may count {'all' if shared == win else duration(shared)} of this win too"


def _entries(findings: Iterable[Row]) -> Iterator[Entry]:
    """Yield the evidence and the remedy of each finding; if the remedy is the same as before, its number."""
    number_of: dict[str, int] = {}
    for row in findings:
        first = number_of.setdefault(row["what_to_do"], row["number"])
        texts = {
            "where": place_of(row),
            "evidence": row["evidence"],
            "also in": shared_of(row),
            "to do": row["what_to_do"] if first == row["number"] else f"as in {first}",
        }
        heading = f"{row['number']}. {row['title']}: {win_of(row)}"
        yield Entry(heading, tuple((label, text) for label, text in texts.items() if text), row["command"])


def how_to_read(facts: Facts) -> Iterator[str]:
    """Yield the number of findings, and remarks about their wins."""
    if not facts["rows"]:
        yield f"no finding: {several(len(facts['judged']), 'rule')} found nothing to change"
        return
    yield f"{several(facts['rows'], 'finding')}; wins overlap: never add them up"
    yield from steps_line(facts)
    if facts["has_steps"]:
        yield OF_STEPS
    kinds = dict.fromkeys(row["kind"] for row in facts["findings"])
    yield "; ".join(f"{kind}: {_KINDS[kind]}" for kind in kinds if kind in _KINDS)


def steps_line(facts: Facts) -> Iterator[str]:
    """Yield the length of the step to which wins refer, as step-time has it."""
    ranks = facts["steps_of_ranks"]
    count = sum(row["step_count"] for row in ranks)
    if not count:
        return
    step, between, edge = (sum(row[name] for row in ranks) / count for name in ("step_ns", "between_ns", "edge_ns"))
    host = None if any(row["host_ns"] is None for row in ranks) else sum(row["host_ns"] for row in ranks) / count
    mean = f" (mean of {steps_of({**facts, 'rank_count': len(ranks)})})" if count > 1 else ""
    if not facts["has_steps"]:
        mean = f" (mean of {several(len(ranks), 'rank')})" if count > 1 else ""
        whole = f", without {duration(edge)} in which it is idle at the edge of the recording" if edge else ""
        yield f"no steps are recorded: the whole recording counts as one, {duration(step)} on the device{whole}{mean}"
        return
    on_host = "" if host is None else f", {duration(host)} on the host"
    idle = f" and {duration(between)} of idle time before it" if round(between) else ""
    yield f"a step takes {duration(step)} on the device{on_host}{mean}; shares are of the time on the device{idle}"


def _explained(top: int) -> int:
    return _EXPLAINED if top == USUAL_ROWS else top


def _more(facts: Facts, profile: Tables, top: int) -> Iterator[str]:
    """Yield where the evidence of the other findings is."""
    if facts["rows"] > min(_explained(top), len(facts["findings"])):
        yield f"evidence of all: {profile.query_line('SELECT rule, evidence, what_to_do, sql FROM advice.finding')}"


def lacking(facts: Facts) -> Iterator[str]:
    """Yield the rules that lack data, each reason once, and the recording with which more can be judged."""
    rules_of: dict[tuple[str, int], list[str]] = {}
    for row in facts["not_judged"]:
        rules_of.setdefault((row["reason"], row["ranks"]), []).append(row["rule"])
    every = {row["rule"] for row in facts["not_judged"]}.union(facts["judged"])
    for (reason, ranks), rules in rules_of.items():
        on_some = "" if ranks == facts["ranks"] else f" on {ranks} of {several(facts['ranks'], 'rank')}"
        which = "no rule can be judged" if len(rules) == len(every) else f"{_named(rules)} cannot be judged"
        yield f"{which}{on_some}: {reason}"
    yield from _unjudged_products(facts)
    recorded = {row["rule"]: row["level"] for row in facts["not_judged"] if row["level"] is not None}
    if recorded:
        call = f'prof_analysis.collect.profiler("result", level={max(recorded.values())})'
        yield f"record with {call} to judge {_named(list(recorded))} too"


def _unjudged_products(facts: Facts) -> Iterator[str]:
    """Yield how much of the matrix products rules judge alone, where that is little."""
    whole, judged = (sum(row[name] for row in facts["products"]) for name in ("duration_ns", "judged_ns"))
    rules = [rule for rule in _OF_PRODUCTS if rule in facts["judged"]]
    if rules and judged < _FEW * whole:
        most = max(facts["products"], key=lambda row: row["duration_ns"] - row["judged_ns"])
        share = f"{percent(judged / whole)} of the {duration(whole)} of matrix products" if judged else "no matrix products"
        yield f"{_named(rules)} can judge {share}: {most['reason']}; see prof-analysis mfu"


def _named(rules: Sequence[str]) -> str:
    """Return rules by name; many of them by their number."""
    return ", ".join(rules) if len(rules) <= _NAMED else f"{len(rules)} rules"
