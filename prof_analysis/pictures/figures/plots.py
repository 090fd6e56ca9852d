"""`profile.plot` and `comparison.plot`: they fetch the rows of each picture."""

from collections import Counter
from typing import Any, get_args

from prof_analysis.analyses.asked import Compared, Tables
from prof_analysis.analyses.memory_rows import PART_LABELS
from prof_analysis.analyses.words import rank_name, several
from prof_analysis.common.errors import InputError
from prof_analysis.common.option_docs import check
from prof_analysis.engine.quotes import quote_text
from prof_analysis.pictures.figures.communication import communication
from prof_analysis.pictures.figures.compared import compared_modules, compared_root
from prof_analysis.pictures.figures.memory import PeakBy, memory
from prof_analysis.pictures.figures.modules import Kernels, modules, root_of
from prof_analysis.pictures.figures.moment import step_of, timeline_rows
from prof_analysis.pictures.figures.pipeline import pipeline
from prof_analysis.pictures.figures.ranks import ranks
from prof_analysis.pictures.figures.steps import steps
from prof_analysis.pictures.figures.style import OfflineFigure, label
from prof_analysis.pictures.figures.timeline import timeline

Rows = list[dict[str, Any]]
# By what a picture of memory divides the peak -> the column that has it.
_PLACES: dict[PeakBy, str] = {"module": "module_path", "site": "site"}
# The tables that each picture reads beside those of its analysis: to build all at once reads the files once.
TABLES = {
    "modules": ("module-stats", ("across.module_summary", "across.outside_module", "module.step_count")),
    "steps": ("step-time", ()),
    "ranks": ("module-stats", ("module.time", "module.step_count", "across.slow_rank")),
    "communication": ("communication-time", ("across.link_pair",)),
    "memory": ("memory", ("step.period", "allocation.curve", "allocation.peak_module", "allocation.peak_site")),
    "pipeline": ("pipeline", ("pipeline.p2p",)),
    "timeline": (
        "step-time",
        (
            "timeline.usual_step",
            "timeline.usual_drawn_kernel",
            "timeline.usual_drawn_call",
            "timeline.usual_drawn_gap",
            "free.longest_gap",
        ),
    ),
}


class ProfilePlots:
    """The pictures of a profile, each a plotly figure."""

    def __init__(self, profile: Tables) -> None:
        self._profile = profile

    def _prepare(self, picture: str) -> str:
        """Build the tables that a picture reads, and return "run, " where its tables have this column, else nothing.

        Fails as the method of the question does where the profile cannot answer.
        """
        analysis, also = TABLES[picture]
        self._profile.prepare(analysis, also=also)
        return "run, " if self._profile.runs else ""

    def modules(self, depth: int | None = None, kernels: Kernels = "compute") -> OfflineFigure:
        """Return an icicle of the modules: width is compute time with all modules inside, a click zooms, a menu colours.

        `depth` is how many levels are drawn at once. `kernels="all"` counts communication and copies too.
        Raises InputError when no rank holds module ranges.
        """
        rows, outside, rank_count, steps = self.module_rows()
        return modules(root_of(rows, outside, kernels), rank_count, steps, depth)

    def module_rows(self) -> tuple[Rows, Rows, int, int | None]:
        """Return the parts of the picture of modules: modules, kernel time outside of them, ranks, and steps of all ranks.

        Raises InputError when no rank holds module ranges.
        """
        run = self._prepare("modules")
        rows = self._profile.rows(
            f"FROM across.module_summary ORDER BY {run}own_kernel_duration_ns DESC, parent_module, module"
        )
        outside = self._profile.rows("FROM across.outside_module ORDER BY ALL")
        (size,) = self._profile.rows(
            """
            SELECT count(*) AS ranks, if(bool_and(step_count IS NOT NULL), sum(step_count)::BIGINT, NULL) AS steps
            FROM module.step_count
            """
        )
        return rows, outside, size["ranks"], size["steps"]

    def steps(self) -> OfflineFigure:
        """Return stacked bars of each step of each rank: computing, communication, both at once, and idle time.

        Raises InputError when no rank holds kernels or step times reported by the profiler.
        """
        self._prepare("steps")
        return steps(self._profile.rows("FROM step.time"))

    def ranks(self) -> OfflineFigure:
        """Return a heat map of ranks and modules: own computing time against the median of the ranks, slow ranks marked.

        Raises InputError when no rank holds module ranges, or only one does.
        """
        run = self._prepare("ranks")
        steps_of = {(row.get("run"), row["profile"]): row["step_count"] for row in self._profile.rows("FROM module.step_count")}
        times = self._profile.rows(
            f"""
            SELECT {run}profile, rank_id, parent_module, module, own_computing_ns
            FROM module.time
            ORDER BY {run}rank_id NULLS LAST, profile
            """
        )
        rows = [{**row, "step_count": steps_of[row.get("run"), row["profile"]]} for row in times]
        if len({row["profile"] for row in rows}) < 2:
            raise InputError("one rank alone cannot be compared; open a folder with several ranks of a job")
        return ranks(rows, self._profile.rows(f"SELECT {run}profile FROM across.slow_rank WHERE is_slow"))

    def communication(self) -> OfflineFigure:
        """Return stacked bars of groups, transfer, wait and idle, and if links are recorded the data between ranks.

        Raises InputError when no rank holds communication operators.
        """
        run = self._prepare("communication")
        links = self._profile.rows("FROM across.link_pair ORDER BY ALL")
        if run:
            links = [{**row, **{end: f"{row['run']} {row[end]}" for end in ("source", "destination")}} for row in links]
        return communication(self._profile.rows("FROM across.communication_group_time"), links)

    def pipeline(self, step: int | None = None) -> OfflineFigure:
        """Return the forward and backward passes of one step over time, a row for each rank in the order of pipeline stages.

        `step` is by default the first one with the most passes.
        Raises InputError when nothing marks passes, or there is no such step.
        """
        self._prepare("pipeline")
        counts = Counter(row["step_id"] for row in self._profile.rows("SELECT step_id FROM pipeline.pass"))
        # The first of those with the most passes; what is in no step comes last.
        usual = min(counts, key=lambda one: (-counts[one], one is None, one or 0), default=None)
        chosen = step if step is not None else usual
        if chosen not in counts:
            raise InputError(f"no passes in step {step}" if step is not None else "no forward and backward passes")
        of_step = "step_id IS NULL" if chosen is None else f"step_id = {chosen:d}"
        passes = self._profile.rows(f"FROM pipeline.pass WHERE {of_step} ORDER BY profile, start_ns")
        p2p = self._profile.rows(f"FROM pipeline.p2p WHERE pass_{of_step} ORDER BY profile, start_ns")
        return pipeline(passes, p2p, chosen)

    def timeline(self, step: int | None = None, rank: int | str | None = None) -> OfflineFigure:
        """Return one step of one rank in time: modules on the device, kernels by stream, idle gaps with cause and Python stack.

        `rank` is its id, or its folder as in ranks(); by default the first. `step` is by default one of usual length.
        Raises InputError when no rank holds kernels, or there is no such rank or step.
        """
        usual = "usual_" if step is None else ""  # The tables of all steps take long.
        analysis, also = TABLES["timeline"]
        self._profile.prepare(analysis, also=[table.replace("usual_", usual) for table in also])
        steps_of = self._profile.rows(
            f"SELECT profile, rank_id, step_id, start_ns, end_ns FROM timeline.{usual}step ORDER BY ALL"
        )
        chosen = step_of(steps_of, step, rank)
        return timeline(*timeline_rows(self._profile, chosen, usual))

    def memory(self, by: PeakBy | None = None) -> OfflineFigure:
        """Return memory of the fullest device over time, with its steps, and the memory at the peak, by module or call site.

        `by` is "module" or "site"; by default modules, and call sites where these are known and modules are not.
        Raises InputError when no rank holds records of device memory.
        """
        check("by", by, by in (None, *get_args(PeakBy)), "module or site")
        self._prepare("memory")
        devices = [row for row in self._profile.rows("FROM across.memory_rank") if row["component"] is not None]
        if not devices:
            raise InputError("no allocator of a framework holds memory in these records")
        fullest = devices[0]
        rank = f"profile = {quote_text(fullest['profile'])}"
        number = "NULL" if fullest["device_id"] is None else f"{fullest['device_id']:d}"
        one = f"{rank} AND device_id IS NOT DISTINCT FROM {number}"
        moments = self._profile.rows(f"FROM allocation.curve WHERE {one} ORDER BY time_ns, usage_id")
        peaks = {
            level: self._profile.rows(
                f"""
                SELECT part::VARCHAR AS part, {column} AS place, live_bytes
                FROM allocation.peak_{level}
                WHERE {one}
                ORDER BY live_bytes DESC, part, place
                """
            )
            for level, column in _PLACES.items()
        }
        usual: PeakBy = next((one for one, rows in peaks.items() if any(row["place"] for row in rows)), "module")
        chosen = usual if by is None else by
        named = [{**row, "name": _name_of(row, chosen)} for row in peaks[chosen]]
        begin = moments[0]["time_ns"] - moments[0]["since_ns"] if moments else 0
        spans = self._profile.rows(
            f"""
            SELECT step_id, start_ns - {begin:d} AS since_ns, end_ns - {begin:d} AS until_ns
            FROM step.period
            WHERE {rank}
            ORDER BY start_ns
            """
        )
        more = f", the fullest of {several(len(devices), 'device')}" if len(devices) > 1 else ""
        return memory(moments, named, spans, f"rank {label(rank_name(fullest))}{more}", chosen)


def _name_of(row: dict[str, Any], by: PeakBy) -> str:
    """Return what a part of the peak is called: its module or call site, or what it is in place of these."""
    unplaced = "(outside modules)" if by == "module" else "(no frames)"
    what = PART_LABELS.get(row["part"])
    return " ".join(filter(None, (row["place"], what))) or unplaced


class ComparisonPlots:
    """The pictures of a comparison, each a plotly figure."""

    def __init__(self, comparison: Compared) -> None:
        self._comparison = comparison

    def modules(self, depth: int | None = None) -> OfflineFigure:
        """Return an icicle of the modules of base and new run, coloured by how much each has changed; a click zooms.

        `depth` is how many levels are drawn at once.
        Raises InputError when there is nothing to compare.
        """
        return compared_modules(compared_root(self._comparison.rows("FROM runs.module_comparison")), depth)
